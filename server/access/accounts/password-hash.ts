import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import PQueue from 'p-queue'

/** Cost of a hash (RFC 7914): memory is 128·N·r bytes, time grows with p. */
export interface HashCost {
  /** Binary logarithm of N. */
  ln: number
  r: number
  p: number
}

/** 32 MiB and about 0.2 s: one of the settings that OWASP's Password Storage Cheat Sheet lists as equivalent. */
export const defaultCost: HashCost = { ln: 15, r: 8, p: 3 }
/** Maximum memory of a hash, in bytes. A hash that requires more was not created by this program. */
const maxMemory = 256 * 1024 * 1024
const hashBytes = 32

const derive = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(scrypt)

/** Hashes a password; returns the hash with its salt and cost, in the PHC string format. */
export async function hashPassword(password: string, cost: HashCost = defaultCost): Promise<string> {
  const salt = randomBytes(16)
  const hash = await derived(password, salt, cost, hashBytes)
  const { ln, r, p } = cost
  return `$scrypt$ln=${ln},r=${r},p=${p}$${salt.toString('base64url')}$${hash.toString('base64url')}`
}

/** Whether a password matches a hash, compared in constant time. @throws Error if the text is not a hash */
export async function isPasswordOf(phc: string, password: string): Promise<boolean> {
  const [, ln, r, p, salt = '', text = ''] =
    /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w-]{16,64})\$([\w-]{32,128})$/.exec(phc) ?? []
  if (text === '') throw new Error('a stored password is not a scrypt hash')
  const expected = Buffer.from(text, 'base64url')
  const cost = { ln: Number(ln), r: Number(r), p: Number(p) }
  return timingSafeEqual(expected, await derived(password, Buffer.from(salt, 'base64url'), cost, expected.length))
}

/**
 * Hashes a password after normalizing it, because keyboards encode the same characters differently (NIST SP 800-63B,
 * section 3.1.1.2).
 */
function derived(password: string, salt: Buffer, { ln, r, p }: HashCost, length: number): Promise<Buffer> {
  return derive(password.normalize('NFKC'), salt, length, { N: 2 ** ln, r, p, maxmem: maxMemory })
}

/** Thrown when too many hashes are queued. */
export class TooManyWaitingError extends Error {
  override readonly name = 'TooManyWaitingError'
}

/**
 * Maximum number of concurrent hashes: each uses tens of megabytes, and a thread of the pool that also reads files and
 * resolves names.
 */
const concurrency = 2
const maxWaiting = 32

/** Limits the numbers of concurrent and of queued password hashes. */
export class HashQueue {
  readonly #queue = new PQueue({ concurrency })

  /**
   * Runs a job when fewer than `concurrency` jobs run.
   * @throws TooManyWaitingError at once, if the queue is full; errors of `job`
   */
  async run<T>(job: () => Promise<T>): Promise<Awaited<T>> {
    if (this.#queue.size >= maxWaiting) throw new TooManyWaitingError('too many passwords wait to be hashed')
    return await this.#queue.add(job)
  }
}
