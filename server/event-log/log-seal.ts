import { type FileHandle, open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { LogFault } from '../../shared/domain/events.ts'
import { hasCode } from '../../shared/error-code.ts'
import type { Log } from '../observe/log.ts'
import { headName } from '../store/backups/backup-events.ts'
import { isProof, type Sealer } from '../store/sealer.ts'
import type { Store } from '../store/store.ts'
import type { ChainEnd } from './entry-line.ts'

/** Range of a log: missing entries outside of it are not a sign of tampering. */
export interface LogHead {
  /** Number of the first kept entry, and the `prev` hash in this entry. */
  oldest: { seq: number; prev: string }
  /** The last entry on disk. */
  newest: { seq: number; hash: string }
}

/** Log to which a proof belongs: the log of one machine, or of a site in a database. */
type HeadPurpose = 'event log' | 'event log of the site'

/** Result of reading a head. `forged`: the head is malformed, or its proof was made with another key. */
export type ReadHead = { state: 'good'; head: LogHead } | { state: 'missing' | 'forged' }

/** Returns the fault of a log whose head cannot be used. */
export function faultOfHead(state: Exclude<ReadHead['state'], 'good'>): LogFault {
  return state === 'missing' ? 'headMissing' : 'headForged'
}

const hashSchema = z.string().length(43)
const headSchema = z.strictObject({
  oldest: z.strictObject({ seq: z.int().min(1), prev: hashSchema }),
  newest: z.strictObject({ seq: z.int().min(0), hash: hashSchema }),
})

export interface ProvenHead {
  head: string
  proof: string
}

export function proveHead(head: LogHead, sealer: Pick<Sealer, 'proof'>, purpose: HeadPurpose): ProvenHead {
  const text = JSON.stringify(head)
  return { head: text, proof: sealer.proof(purpose, text) }
}

export function readProvenHead(
  { head, proof }: ProvenHead,
  sealer: Pick<Sealer, 'proof'>,
  purpose: HeadPurpose,
): ReadHead {
  if (!isProof(proof, sealer.proof(purpose, head))) return { state: 'forged' }
  try {
    return { state: 'good', head: headSchema.parse(JSON.parse(head)) }
  } catch {
    return { state: 'forged' }
  }
}

/** Size of the file, in bytes. It is overwritten in place within one sector, so that a write is never torn. */
const headBytes = 384

const fileSchema = z.strictObject({ head: z.string(), proof: z.string() })

/** Reads the head of a log. @throws errors of the file system except ENOENT */
export async function readLogHead(folder: string, sealer: Pick<Sealer, 'proof'>): Promise<ReadHead> {
  let text: string
  try {
    text = await readFile(join(folder, headName), 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return { state: 'missing' }
    throw error
  }
  try {
    return readProvenHead(fileSchema.parse(JSON.parse(text)), sealer, 'event log')
  } catch {
    return { state: 'forged' }
  }
}

/** Keeps the head file up to date. */
export class HeadFile {
  readonly #sealer: Pick<Sealer, 'proof'>
  readonly #path: string
  #handle: FileHandle | undefined

  constructor(folder: string, sealer: Pick<Sealer, 'proof'>) {
    this.#path = join(folder, headName)
    this.#sealer = sealer
  }

  /** Writes a head, whose entries must be on disk already. @throws errors of the file system */
  async write(head: LogHead): Promise<void> {
    const line = JSON.stringify(proveHead(head, this.#sealer, 'event log'))
    this.#handle ??= await openInPlace(this.#path)
    await this.#handle.write(`${line.padEnd(headBytes - 1)}\n`, 0)
  }

  async close(): Promise<void> {
    const handle = this.#handle
    this.#handle = undefined
    try {
      await handle?.datasync()
    } finally {
      await handle?.close()
    }
  }
}

async function openInPlace(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r+')
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
    return await open(path, 'wx', 0o600)
  }
}

/** Minimum interval between updates of the high-water mark in the store, in milliseconds. */
const noteMs = 60_000

/** Seal of the log. The head file contains the first and the last entry; the store contains the last entry's number. */
export class LogSeal {
  readonly #head: HeadFile
  readonly #highWaterMark: LogHighWaterMark | undefined
  readonly #logger: Log
  #oldest: LogHead['oldest']
  #newest: ChainEnd
  #notedAt = Number.NEGATIVE_INFINITY

  constructor(head: HeadFile, { oldest, newest }: LogHead, highWaterMark: LogHighWaterMark | undefined, logger: Log) {
    this.#head = head
    this.#oldest = oldest
    this.#newest = newest
    this.#highWaterMark = highWaterMark
    this.#logger = logger
  }

  get oldest(): LogHead['oldest'] {
    return this.#oldest
  }

  /** The last synced entry. */
  get newest(): ChainEnd {
    return this.#newest
  }

  /** Writes the current head. @throws errors of the file system */
  async write(): Promise<void> {
    await this.#head.write({ oldest: this.#oldest, newest: this.#newest })
  }

  /** Seals the entries up to `newest`, which must be synced. @throws errors of the file system */
  async extend(newest: ChainEnd): Promise<void> {
    await this.#head.write({ oldest: this.#oldest, newest })
    this.#newest = newest
    if (performance.now() - this.#notedAt >= noteMs) this.note()
  }

  /** Sets the first kept entry of the log. @throws errors of the file system */
  async shorten(oldest: LogHead['oldest']): Promise<void> {
    this.#oldest = oldest
    await this.write()
  }

  /**
   * Records the end of the log in the store. Ignores write failures: the log must not fail because the store is
   * read-only.
   */
  note(): void {
    this.#notedAt = performance.now()
    try {
      this.#highWaterMark?.note(this.#newest.seq)
    } catch (error) {
      this.#logger.debug({ err: error }, 'the end of the event log was not noted in the store')
    }
  }

  async close(): Promise<void> {
    await this.#head.close()
  }
}

/**
 * Lower bound of the number of the log's last entry, stored outside the log's folder: changes in the folder do not
 * change this bound.
 */
export interface LogHighWaterMark {
  /** Returns the stored number; 0: unknown. */
  read(): number
  /** @param seq number of the newest entry on disk */
  note(seq: number): void
}

/** Parts of the store that a high-water mark uses. */
type HighWaterMarkStore = Pick<Store, 'get' | 'writeBehind'>

/**
 * Prefix of the keys of high-water marks in `last_uses`, a collection that older versions also have. No account or
 * token has a key with this prefix.
 */
const highWaterMarkPrefix = 'event log'

/**
 * Returns the key of a controller's high-water mark.
 * @param controller id of the controller on a site in a database; empty on a site in files
 */
export function highWaterMarkKey(controller: string): string {
  return `${highWaterMarkPrefix} ${controller}`.trim()
}

export function isHighWaterMarkKey(key: string): boolean {
  return key.startsWith(highWaterMarkPrefix)
}

/** Stores the high-water mark of a controller. While another controller leads, the mark is only read. */
export class StoredHighWaterMark implements LogHighWaterMark {
  readonly #key: string
  #store: HighWaterMarkStore

  constructor(store: HighWaterMarkStore, controller = '') {
    this.#key = highWaterMarkKey(controller)
    this.#store = store
  }

  /** Uses another store from now on. */
  follow(store: HighWaterMarkStore): void {
    this.#store = store
  }

  read(): number {
    return this.#store.get('last_uses', this.#key)?.seq ?? 0
  }

  note(seq: number): void {
    if (seq > this.read()) this.#store.writeBehind('last_uses', this.#key, { at: Date.now(), seq })
  }
}
