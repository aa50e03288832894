import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, link, mkdir, open, readFile, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ApiError } from '../../shared/result-codes.ts'
import { hasCode, syncFolder } from './files/durable-files.ts'
import { holdsSealedSecrets, sealedPrefix } from './files/sealed-secrets.ts'
import { readingOf } from './files/store-file-error.ts'

/** Turns secrets into texts that are safe on disk, and back. Where the key comes from is not its business. */
export interface Sealer {
  /** Encrypts a secret; the same secret seals differently each time. */
  seal(text: string): string
  /** @throws ApiError 'internal' when the text was sealed with another key or was altered. */
  unseal(text: string): string
  /** A proof of this text for one purpose that only who has the key can make, base64url: HMAC-SHA-256 with a key of that purpose alone. */
  proof(purpose: string, text: string): string
  /** The key with which proofs for one purpose are made, for a program that is to check them and know no more. */
  keyFor(purpose: string): Buffer
}

const ivBytes = 12
const tagBytes = 16

/**
 * AES-256-GCM (NIST SP 800-38D), random 96-bit iv per text: `sealed:v1:` and base64url of iv, tag, data.
 * @param key 32 bytes.
 */
export function createSealer(key: Buffer): Sealer {
  if (key.length !== 32) throw new RangeError('A sealing key has 32 bytes.')
  // RFC 5869: what one purpose gives away says nothing of another, nor of the key.
  const keyFor = (purpose: string): Buffer => Buffer.from(hkdfSync('sha256', key, '', `roomdesk ${purpose}`, 32))
  return {
    proof: (purpose, text) => createHmac('sha256', keyFor(purpose)).update(text).digest('base64url'),
    keyFor,
    seal(text) {
      const iv = randomBytes(ivBytes)
      const cipher = createCipheriv('aes-256-gcm', key, iv)
      const head = cipher.update(text, 'utf8')
      const tail = cipher.final()
      return sealedPrefix + Buffer.concat([iv, cipher.getAuthTag(), head, tail]).toString('base64url')
    },
    unseal(text) {
      try {
        if (!text.startsWith(sealedPrefix)) throw new Error('not a sealed text')
        const bytes = Buffer.from(text.slice(sealedPrefix.length), 'base64url')
        if (bytes.length < ivBytes + tagBytes) throw new Error('too short')
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes })
        decipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes))
        return decipher.update(bytes.subarray(ivBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8')
      } catch (error) {
        throw new ApiError('internal', {
          message: 'A stored secret cannot be opened: it was sealed with another key.',
          cause: error,
        })
      }
    },
  }
}

/** There is no key, where there must be one. */
export class KeyFileError extends Error {
  override readonly name = 'KeyFileError'
}

/**
 * The 32-byte sealing key of a key file (64 hex digits, mode 0600) in a data folder. Where there is none, and nothing that was sealed with it, it is made, durably.
 * A file that others may read is closed to them.
 * @throws KeyFileError when the file does not hold a key, or is missing: a new one would make every stored secret unreadable. StoreFileError when it cannot be read.
 */
export async function loadKeyFile(path: string): Promise<Buffer> {
  for (;;) {
    try {
      return await readKeyFile(path)
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error
    }
    if (await holdsSealedSecrets(dirname(path))) {
      // One that starts at the same time may have made it since, and sealed with it.
      if (existsSync(path)) continue
      throw new KeyFileError(
        `${path} is missing, and the secrets of this site were sealed with its key: put the file back. ${withoutCopy}`,
      )
    }
    await createKeyFile(path)
  }
}

/** Nothing opens without its key, not even the node of this machine: what there was cannot be gone on with. */
const withoutCopy = 'When no copy is left, start with an empty data folder: nothing opens the secrets of this one.'

async function readKeyFile(path: string): Promise<Buffer> {
  const text = (await readingOf(path, () => readFile(path, 'latin1'))).trim()
  if (!/^[0-9a-f]{64}$/.test(text)) {
    throw new KeyFileError(
      `${path} does not hold a sealing key (64 hex digits): put the right file back. ${withoutCopy}`,
    )
  }
  if (process.platform !== 'win32' && ((await stat(path)).mode & 0o077) !== 0) await chmod(path, 0o600)
  return Buffer.from(text, 'hex')
}

/** Writes a whole new key under another name and links it: nobody ever sees half a key, and of two makers one wins. */
async function createKeyFile(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const temporary = `${path}.${process.pid}.${randomBytes(4).toString('hex')}.tmp`
  const handle = await open(temporary, 'wx', 0o600)
  try {
    await handle.writeFile(`${randomBytes(32).toString('hex')}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  try {
    await link(temporary, path)
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  } finally {
    await rm(temporary, { force: true })
  }
  await syncFolder(dirname(path))
}
