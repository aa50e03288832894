import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { sleep } from '../../../shared/sleep.ts'
import { recordedPath } from '../../../shared/files/recorded-path.ts'
import { mustNotFail } from '../../../shared/unawaited.ts'
import { DiskFile, type DiskTrouble } from './disk-file.ts'
import { totalmem } from 'node:os'
import { errorCode } from '../../../shared/error-code.ts'

const mebibyte = 1024 * 1024
/** Limit of what waits for the disk in all files, in bytes: two and a half seconds of 200 cameras, up to ten on a machine with 16 GB of memory. A disk that others keep busy stalls for seconds. */
const maxWaiting = Math.min(512 * mebibyte, Math.max(128 * mebibyte, totalmem() / 32))
/** Time after which a full disk is tried again, in milliseconds. */
const fullMs = 10_000
/** Time after which a disk that failed otherwise is tried again, in milliseconds. */
const failedMs = 2_000
/** Age of unsynced media from which the disk counts as late, in milliseconds: half of what a power cut may take besides a group of pictures; the rest covers writes in progress. */
const lateMs = 500
/** Interval between two reports, in milliseconds. */
const reportEveryMs = 1_000
/** Time without a delay after which the disk keeps up again, in milliseconds. */
const calmMs = 60_000

/** Interval at which all that is new is written and synced, in milliseconds: a quarter of what a power cut may take besides a group of pictures, since a busy machine is late. */
const saveEveryMs = 250
/** Time that the syncs of a round wait for the slowest write of the round, in milliseconds. */
const maxWriteMs = 50
/** Time that a round of syncs has for itself, in milliseconds: one sync takes names and sizes of all files along. On a slower disk, the next round begins beside it. */
const roundMs = 400
/** Threads of Node for the disk (libuv: four unless it is told otherwise). Most wait for syncs; writes, which mostly take no time, and others have the rest. */
const threads = Number(process.env.UV_THREADPOOL_SIZE ?? 4)
const maxSyncs = Math.max(1, threads - Math.max(2, Math.floor(threads / 4)))

/** Receives what the disk does. */
export interface DiskReports {
  /** An error of the disk. */
  failed: (message: string, error: unknown) => void
  /** Age of the oldest media that a power cut would take, in milliseconds, once a second while the disk is late; 0: it keeps up again. */
  late: (ms: number) => void
}

/**
 * The folder of recordings. Everything new of all files is written and synced four times a second, so that a power cut loses at most a second. A slow disk makes files wait in bounded memory;
 * it never delays those who append, and a file that it delays delays no other.
 */
export class RecordingDisk {
  readonly folder: string
  /** Files with bytes that are not synced. */
  readonly #dirty = new Set<DiskFile>()
  /** Folders whose names changed since their last sync, and when. */
  readonly #folders = new Map<string, number>()
  /** Files that are not complete. */
  readonly #begun = new Set<string>()
  readonly #timer: NodeJS.Timeout
  readonly #syncs = new Turns(maxSyncs)
  readonly #health: DiskHealth
  readonly #delay: DiskDelay
  /** When the latest round of syncs began; -Infinity: it is over. */
  #roundAt = -Infinity
  /** Sync of the folders that is under way, and when the first of them changed. */
  #naming: { work: Promise<void>; since: number } | undefined

  constructor(folder: string, { failed, late }: DiskReports) {
    this.folder = folder
    this.#health = new DiskHealth(failed)
    this.#delay = new DiskDelay(late)
    this.#timer = setInterval(() => this.#tick(), saveEveryMs).unref()
  }

  /** Reason why no new file should be begun now; undefined: none. */
  get trouble(): DiskTrouble | undefined {
    return this.#health.trouble
  }

  /** Whether a file of this path is being written. */
  has(path: string): boolean {
    return this.#begun.has(recordedPath(this.folder, path))
  }

  /**
   * Begins a file.
   * @param path below the folder, without the suffix that it has while it is written
   */
  create(path: string): DiskFile {
    const whole = recordedPath(this.folder, path)
    this.#begun.add(whole)
    return new DiskFile(whole, {
      ended: () => void this.#begun.delete(whole),
      sync: (operation) => this.#syncs.run(operation),
      changed: (file) => void this.#dirty.add(file),
      saved: (file) => void this.#dirty.delete(file),
      waits: (bytes) => this.#health.waits(bytes),
      named: (folder) => this.#noteName(folder),
      failed: (path, error) => this.#health.failed(path, error),
    })
  }

  /** Stops the timer; files are closed by their owners before. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.sync()
    await this.#naming?.work
    await this.#saveNames()
  }

  /** Writes and syncs everything new. All of it is written before the first sync, which then takes the names and sizes of all along; a slow write is not waited for. Never rejects. */
  async sync(): Promise<void> {
    const rounds = Array.from(this.#dirty, (file) => ({ file, written: file.write() }))
    if (rounds.length + this.#folders.size === 0) return
    const allWritten = Promise.race([Promise.all(rounds.map(({ written }) => written)), sleep(maxWriteMs)])
    const syncs = rounds.map(async ({ file, written }) => {
      await written
      await allWritten
      await file.sync()
    })
    await Promise.all([...syncs, allWritten.then(() => this.#saveNames())])
  }

  #tick(): void {
    const now = performance.now()
    if (now - this.#roundAt > roundMs) {
      this.#roundAt = now
      const synced = this.sync().finally(() => {
        if (this.#roundAt === now) this.#roundAt = -Infinity
      })
      mustNotFail(synced)
    } else for (const file of this.#dirty) mustNotFail(file.write())
    const moments = Array.from(this.#dirty, ({ oldestAt }) => oldestAt ?? Infinity)
    const oldest = Math.min(this.#naming?.since ?? Infinity, ...this.#folders.values(), ...moments)
    this.#delay.note(oldest === Infinity ? undefined : oldest, now)
  }

  #noteName(folder: string): void {
    if (!this.#folders.has(folder)) this.#folders.set(folder, performance.now())
  }

  /** Syncs the names in folders. Never rejects. */
  async #saveNames(): Promise<void> {
    if (this.#naming !== undefined || this.#folders.size === 0) return
    const folders = [...this.#folders.keys()]
    const since = Math.min(...this.#folders.values())
    this.#folders.clear()
    // A disk that refuses is reported by the files on it; some file systems sync no folders.
    const syncs = folders.map((folder) => this.#syncs.run(() => syncFolder(folder)).catch(() => {}))
    const work = Promise.all(syncs).then(() => {
      this.#naming = undefined
    })
    this.#naming = { work, since }
    await work
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

/** Reports how far the disk is behind, while it is late. */
class DiskDelay {
  readonly #report: (ms: number) => void
  /** When it was late last; -Infinity: it keeps up. */
  #lateAt = -Infinity
  #reportedAt = -Infinity

  /** @param report takes the age of the oldest media that a power cut would take, in milliseconds, once a second; 0: the disk keeps up again */
  constructor(report: (ms: number) => void) {
    this.#report = report
  }

  /** @param oldestAt when the oldest unsynced media was appended; undefined: all is synced. @param now in milliseconds of the same clock, which never goes back */
  note(oldestAt: number | undefined, now: number): void {
    const ms = oldestAt === undefined ? 0 : now - oldestAt
    if (ms > lateMs) this.#lateAt = now
    if (this.#lateAt === -Infinity || now - this.#reportedAt < reportEveryMs) return
    const isOver = now - this.#lateAt > calmMs
    this.#reportedAt = isOver ? -Infinity : now
    if (isOver) this.#lateAt = -Infinity
    // 0: the problem has ended.
    this.#report(isOver ? 0 : Math.max(1, Math.round(ms)))
  }
}

/** State of the disk: what waits for it, and why it takes nothing. */
class DiskHealth {
  readonly #report: (message: string, error: unknown) => void
  #waiting = 0
  #trouble: { kind: DiskTrouble; until: number } | undefined

  /** @param report logs an error of the disk */
  constructor(report: (message: string, error: unknown) => void) {
    this.#report = report
  }

  /** Reason why no new file should be begun now; undefined: none. */
  get trouble(): DiskTrouble | undefined {
    this.#forget()
    return this.#trouble?.kind ?? (this.#waiting > maxWaiting / 2 ? 'failed' : undefined)
  }

  /** Counts bytes that wait, or no longer do. Returns whether too many wait. */
  waits(bytes: number): boolean {
    this.#waiting += bytes
    return this.#waiting > maxWaiting
  }

  /** An operation failed. Returns what kind of trouble that is. */
  failed(path: string, error: unknown): DiskTrouble {
    const code = errorCode(error)
    const kind = code === 'ENOSPC' || code === 'EDQUOT' ? 'diskFull' : 'failed'
    this.#forget()
    const isNew = this.#trouble?.kind !== kind
    this.#trouble = { kind, until: performance.now() + (kind === 'diskFull' ? fullMs : failedMs) }
    if (isNew) this.#report(kind === 'diskFull' ? 'recordings: the disk is full' : `recordings: ${path} failed`, error)
    return kind
  }

  #forget(): void {
    if (this.#trouble !== undefined && performance.now() > this.#trouble.until) this.#trouble = undefined
  }
}

/** Runs operations in order, so many at a time. */
class Turns {
  readonly #limit: number
  readonly #queue: (() => void)[] = []
  #running = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  async run<T>(operation: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#limit) await new Promise<void>((resolve) => this.#queue.push(resolve))
    else this.#running += 1
    try {
      return await operation()
    } finally {
      const next = this.#queue.shift()
      if (next === undefined) this.#running -= 1
      else next()
    }
  }
}
