import { constants, existsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { partSuffix } from '../../../shared/recordings/segment-path.ts'
import { DiskFile, type DiskTrouble } from './disk-file.ts'

/** Interval at which all that is new is written and synced, in milliseconds. */
const syncEveryMs = 1_000
/** Disk operations at a time: Node has four threads for them, and others need one. */
const maxOperations = 3
/** Limit of what waits for the disk in all files, in bytes. */
const maxWaiting = 128 * 1024 * 1024
/** Time after which a full disk is tried again, in milliseconds. */
const fullMs = 10_000
/** Time after which a disk that failed otherwise is tried again, in milliseconds. */
const failedMs = 2_000

/** Node's promises have no code in their type. */
function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/**
 * The folder of recordings. Everything new of all files is written and synced once a second, so that a power cut loses a second. A slow disk makes files wait in bounded memory;
 * it never delays those who append.
 */
export class RecordingDisk {
  readonly folder: string
  readonly #dirty = new Set<DiskFile>()
  /** Folders whose names changed since their last sync. */
  readonly #folders = new Set<string>()
  /** Files that are not complete. */
  readonly #begun = new Set<string>()
  readonly #timer: NodeJS.Timeout
  readonly #queue: (() => void)[] = []
  readonly #report: (message: string, error: unknown) => void
  #running = 0
  #round: Promise<void> | undefined
  #waiting = 0
  #trouble: { kind: DiskTrouble; until: number } | undefined

  /** @param report logs an error of the disk */
  constructor(folder: string, report: (message: string, error: unknown) => void) {
    this.folder = folder
    this.#report = report
    this.#timer = setInterval(() => void this.sync(), syncEveryMs).unref()
  }

  /** Why no new file should be begun now; undefined: one may be. */
  get trouble(): DiskTrouble | undefined {
    if (this.#trouble !== undefined && performance.now() > this.#trouble.until) this.#trouble = undefined
    return this.#trouble?.kind ?? (this.#waiting > maxWaiting / 2 ? 'failed' : undefined)
  }

  /** Whether there is a file of this path, complete or not. */
  has(path: string): boolean {
    const whole = join(this.folder, path)
    return this.#begun.has(whole) || existsSync(whole) || existsSync(whole + partSuffix)
  }

  /**
   * Begins a file.
   * @param path below the folder, without the suffix that it has while it is written
   */
  create(path: string): DiskFile {
    const whole = join(this.folder, path)
    this.#begun.add(whole)
    return new DiskFile(whole, {
      ended: () => void this.#begun.delete(whole),
      run: (operation) => this.#run(operation),
      changed: (file) => void this.#dirty.add(file),
      waits: (bytes) => {
        this.#waiting += bytes
        return this.#waiting > maxWaiting
      },
      named: (folder) => void this.#folders.add(folder),
      failed: (path, error) => this.#failed(path, error),
    })
  }

  /** Writes and syncs everything new. Never rejects. */
  sync(): Promise<void> {
    this.#round ??= this.#syncAll().finally(() => {
      this.#round = undefined
    })
    return this.#round
  }

  /** Stops the timer; files are closed by their owners before. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.sync()
    await this.sync()
  }

  async #syncAll(): Promise<void> {
    const files = [...this.#dirty]
    this.#dirty.clear()
    // All of it is written before the first sync: that one then takes the names and sizes of all along.
    await Promise.all(files.map((file) => file.write()))
    await Promise.all(files.map((file) => file.sync()))
    const folders = [...this.#folders]
    this.#folders.clear()
    await Promise.all(folders.map((folder) => this.#run(() => syncFolder(folder)).catch(() => {})))
  }

  async #run<T>(operation: () => Promise<T>): Promise<T> {
    if (this.#running >= maxOperations) await new Promise<void>((resolve) => this.#queue.push(resolve))
    else this.#running += 1
    try {
      return await operation()
    } finally {
      const next = this.#queue.shift()
      if (next === undefined) this.#running -= 1
      else next()
    }
  }

  #failed(path: string, error: unknown): DiskTrouble {
    const code = codeOf(error)
    const kind = code === 'ENOSPC' || code === 'EDQUOT' ? 'diskFull' : 'failed'
    const isNew = this.trouble !== kind
    this.#trouble = { kind, until: performance.now() + (kind === 'diskFull' ? fullMs : failedMs) }
    if (isNew) this.#report(kind === 'diskFull' ? 'recordings: the disk is full' : `recordings: ${path} failed`, error)
    return kind
  }
}

/** A folder's names are durable once it is synced; Windows does not know that. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
