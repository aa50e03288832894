import type { Low } from 'lowdb'
import { listBackups, makeBackup, type Retention } from './backups.ts'
import { type DocumentName, documentNames, type StoredDocument } from './documents.ts'
import type { Journal } from './journal/journal.ts'
import type { StoreBackup } from '../store.ts'

export interface SnapshotsOptions {
  folder: string
  journal: Journal
  /** lowdb, by file. */
  files: Readonly<Record<DocumentName, Low<StoredDocument>>>
  /** First segment that the replaced file of each document needs. */
  previous: Readonly<Partial<Record<DocumentName, number>>>
  /** Runs a task while no flush is under way. */
  between: <R>(task: () => Promise<R>) => Promise<R>
  roomNumber: () => number
  clock: () => number
  /** How many backups stay that nobody keeps, and for how long. */
  retention: () => Retention
  /** Journal bytes after which the files are rewritten. */
  after: number
  /** Bytes of the files as last written. */
  fileBytes: () => number
  /** The files could not be written (with the error), or could again (undefined). */
  onHealth: (error: unknown) => void
}

/** Between two backups made by themselves, in milliseconds. */
const backupEvery = 60 * 60_000
/** After files could not be written, in milliseconds. */
const retryAfter = 30_000

/**
 * Rewrites lowdb's files and cuts the journal. The journal's segment is ended first, and at that instant memory is exactly what the segments up to it say:
 * the files hold that, and name the next segment as the first to replay.
 * Segments stay as long as a file, or the one it replaced, needs them: falling back by one loses nothing.
 */
export class Snapshots {
  readonly #options: SnapshotsOptions
  readonly #first: Record<DocumentName, number>
  readonly #previous: Partial<Record<DocumentName, number>>
  /** When each file was written, milliseconds since the epoch. */
  readonly #writtenAt: Record<DocumentName, number>
  #turn: Promise<unknown> = Promise.resolve()
  #running = 0
  #retryAt = 0
  #failed = false
  /** Of the newest backup; undefined: not looked up yet. */
  #backupAt: number | undefined

  constructor(options: SnapshotsOptions) {
    const { site, rooms, sessions } = options.files
    this.#options = options
    this.#first = {
      site: site.data.first_segment,
      rooms: rooms.data.first_segment,
      sessions: sessions.data.first_segment,
    }
    this.#previous = { ...options.previous }
    this.#writtenAt = { site: site.data.written_at, rooms: rooms.data.written_at, sessions: sessions.data.written_at }
  }

  /** When the oldest of the files was written, milliseconds since the epoch. */
  get writtenAt(): number {
    return Math.min(this.#writtenAt.site, this.#writtenAt.rooms, this.#writtenAt.sessions)
  }

  /** Bytes of journal that a start would replay. */
  get journalBytes(): number {
    return this.#options.journal.bytesFrom(Math.min(this.#first.site, this.#first.rooms, this.#first.sessions))
  }

  /** Whether the journal has grown enough: as large as the files, so that what is written twice stays in proportion. */
  get due(): boolean {
    if (this.#running > 0 || this.journalBytes < Math.max(this.#options.after, this.#options.fileBytes())) return false
    return performance.now() >= this.#retryAt
  }

  /** Resolves when nothing is being rewritten. */
  async idle(): Promise<void> {
    while (this.#running > 0) await this.#turn
  }

  /** Rewrites the files, and makes a backup when the last is an hour old. */
  run(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#rewrite()
      const at =
        this.#backupAt ??
        (await listBackups(this.#options.folder)).find(({ uploaded }) => !uploaded)?.at ??
        Number.NEGATIVE_INFINITY
      this.#backupAt = at
      // A clock that was set back counts as time that has passed.
      if (Math.abs(this.#options.clock() - at) >= backupEvery) await this.#copy()
    })
  }

  /** Rewrites the files and backs them up. @param kept until the operator deletes it */
  backUp(kept: boolean): Promise<StoreBackup> {
    return this.#inTurn(async () => {
      await this.#rewrite()
      return await this.#copy(kept)
    })
  }

  #inTurn<R>(job: () => Promise<R>): Promise<R> {
    this.#running++
    const turn = this.#turn.then(job)
    const ended = turn.then(
      () => this.#ended(undefined),
      (error: unknown) => this.#ended(error),
    )
    this.#turn = ended
    return turn
  }

  #ended(error: unknown): void {
    this.#running--
    if (error !== undefined) this.#retryAt = performance.now() + retryAfter
    if (error !== undefined || this.#failed) this.#options.onHealth(error)
    this.#failed = error !== undefined
  }

  async #copy(kept = false): Promise<StoreBackup> {
    const retention = this.#options.retention()
    const backup = await makeBackup(this.#options.folder, this.#options.clock(), { kept, retention })
    this.#backupAt = backup.at
    return backup
  }

  async #rewrite(): Promise<void> {
    const { between, files, journal, roomNumber, clock } = this.#options
    // A function, so that the turn between two flushes ends before the files are written.
    const { first, at, written } = await between(async () => {
      const first = await journal.rotate()
      const at = clock()
      const settled = Promise.allSettled(
        documentNames.map((name) => {
          const { data } = files[name]
          data.first_segment = first
          data.written_at = at
          data.room_number = roomNumber()
          return files[name].write()
        }),
      )
      return { first, at, written: () => settled }
    })
    const results = await written()
    for (const [i, name] of documentNames.entries()) {
      if (results[i]?.status !== 'fulfilled') continue
      this.#previous[name] = this.#first[name]
      this.#first[name] = first
      this.#writtenAt[name] = at
    }
    const refused = results.find((result) => result.status === 'rejected')
    if (refused !== undefined) throw refused.reason
    await journal.cut(Math.min(...documentNames.map((name) => this.#previous[name] ?? this.#first[name])))
  }
}
