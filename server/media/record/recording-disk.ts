import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { LRUCache } from 'lru-cache'
import { sleep } from '../../../shared/sleep.ts'
import { recordedPath } from '../../../shared/files/recorded-path.ts'
import { mustNotFail } from '../../../shared/unawaited.ts'
import { DiskFile, type DiskTrouble } from './disk-file.ts'
import { totalmem } from 'node:os'
import { errorCode } from '../../../shared/error-code.ts'

const mebibyte = 1024 * 1024
/**
 * Maximum number of pending bytes in all files: 2.5 seconds of 200 cameras, up to 10 seconds on a machine with 16 GB of
 * memory. A disk that other processes use heavily stalls for seconds.
 */
const maxWaiting = Math.min(512 * mebibyte, Math.max(128 * mebibyte, totalmem() / 32))
/** Time after which a full disk is tried again, in milliseconds. */
const fullMs = 10_000
/** Time after which a disk with another failure is tried again, in milliseconds. */
const failedMs = 2_000
/**
 * Age of unsynced media above which the disk counts as slow, in milliseconds. A power cut may destroy one second of
 * media in addition to a group of pictures; the other half second is for writes in progress.
 */
const lateMs = 500
/** Minimum interval between reports, in milliseconds. */
const reportEveryMs = 1_000
/** Time without a delay after which the disk is no longer slow, in milliseconds. */
const calmMs = 60_000

/**
 * Interval of writing and syncing new data, in milliseconds. Four intervals fit into the second of media that a power
 * cut may destroy, because a busy machine runs timers late.
 */
const saveEveryMs = 250
/** Maximum time that the syncs of a round wait for the slowest write of the round, in milliseconds. */
const maxWriteMs = 50
/**
 * Maximum time that a round of syncs delays the next round, in milliseconds. Rounds should not overlap, because one
 * sync also persists names and sizes of all files. On a slow disk, the next round runs in parallel.
 */
const roundMs = 400
/**
 * Number of Node's threads for disk operations (libuv: four by default). At least two threads never wait for syncs, but
 * serve writes, which usually take no time, and other operations.
 */
const threads = Number(process.env.UV_THREADPOOL_SIZE ?? 4)
const maxSyncs = Math.max(1, threads - Math.max(2, Math.floor(threads / 4)))

/** Receives the events of the disk. */
export interface DiskReports {
  /** Called for an error of the disk. */
  failed: (message: string, error: unknown) => void
  /**
   * Called once a second while the disk is slow, with the age in milliseconds of the oldest media that a power cut
   * would destroy; 0: the disk is no longer slow.
   */
  late: (ms: number) => void
}

/**
 * The recordings folder. New data of all files is written and synced four times a second, so that a power cut destroys
 * at most one second of data. Pending data is held in bounded memory. A slow disk never delays the callers of `append`,
 * and a slow file does not delay other files.
 */
export class RecordingDisk {
  readonly folder: string
  /** Files with unsynced bytes. */
  readonly #dirty = new Set<DiskFile>()
  /** Folders with unsynced names, and the time of the change. */
  readonly #folders = new Map<string, number>()
  /** Paths of the files that are not complete. */
  readonly #begun = new Set<string>()
  /** Paths of the last complete files, of 50 minutes of 200 cameras. */
  readonly #ended = new LRUCache<string, true>({ max: 10_000 })
  readonly #timer: NodeJS.Timeout
  readonly #syncs = new WriteScheduler(maxSyncs)
  readonly #health: DiskHealth
  readonly #delay: DiskDelay
  /** Start of the latest round of syncs; -Infinity: it has ended. */
  #roundAt = -Infinity
  /** Sync of folders in progress, and time of the earliest change in it. */
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

  /** Whether a file with this path is being written or was lately completed: another one would replace it. */
  has(path: string): boolean {
    const whole = recordedPath(this.folder, path)
    return this.#begun.has(whole) || this.#ended.has(whole)
  }

  /**
   * Begins a file.
   * @param path below the folder, without the suffix of incomplete files
   */
  create(path: string): DiskFile {
    const whole = recordedPath(this.folder, path)
    this.#begun.add(whole)
    return new DiskFile(whole, {
      ended: () => {
        this.#begun.delete(whole)
        this.#ended.set(whole, true)
      },
      sync: (operation) => this.#syncs.run(operation),
      changed: (file) => void this.#dirty.add(file),
      saved: (file) => void this.#dirty.delete(file),
      waits: (bytes) => this.#health.waits(bytes),
      named: (folder) => this.#noteName(folder),
      failed: (path, error) => this.#health.failed(path, error),
    })
  }

  /** Stops the timer. Files must be closed by their owners before. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.sync()
    await this.#naming?.work
    await this.#saveNames()
  }

  /**
   * Writes and syncs all new data. All data is written before the first sync, so that this sync also persists all names
   * and sizes. A write slower than `maxWriteMs` does not delay the syncs of other files. Never rejects.
   */
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
    // Disk errors are reported by the files; some file systems do not support syncing folders.
    const syncs = folders.map((folder) => this.#syncs.run(() => syncFolder(folder)).catch(() => {}))
    const work = Promise.all(syncs).then(() => {
      this.#naming = undefined
    })
    this.#naming = { work, since }
    await work
  }
}

/** Syncs a folder to make its names durable; Windows does not support this. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Reports the delay of the disk while the disk is slow. */
class DiskDelay {
  readonly #report: (ms: number) => void
  /** Last time at which the disk was slow; -Infinity: the disk is not slow. */
  #lateAt = -Infinity
  #reportedAt = -Infinity

  /**
   * @param report called once a second with the age in milliseconds of the oldest media that a power cut would destroy;
   *   0: the disk is no longer slow
   */
  constructor(report: (ms: number) => void) {
    this.#report = report
  }

  /**
   * @param oldestAt time of the oldest unsynced append; undefined: all is synced
   * @param now milliseconds of the same monotonic clock
   */
  note(oldestAt: number | undefined, now: number): void {
    const ms = oldestAt === undefined ? 0 : now - oldestAt
    if (ms > lateMs) this.#lateAt = now
    if (this.#lateAt === -Infinity || now - this.#reportedAt < reportEveryMs) return
    const isOver = now - this.#lateAt > calmMs
    this.#reportedAt = isOver ? -Infinity : now
    if (isOver) this.#lateAt = -Infinity
    // 0 means that the delay has ended.
    this.#report(isOver ? 0 : Math.max(1, Math.round(ms)))
  }
}

/** State of the disk: number of pending bytes, and the reason why the disk accepts no data. */
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

  /** Adds to the number of pending bytes. Returns whether too many are pending. */
  waits(bytes: number): boolean {
    this.#waiting += bytes
    return this.#waiting > maxWaiting
  }

  /** Records a failed operation. Returns the kind of trouble. */
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

/** Runs a limited number of operations in parallel, in order of arrival. */
class WriteScheduler {
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
