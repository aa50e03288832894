import { clearInterval, setInterval } from 'node:timers'
import { setImmediate } from 'node:timers/promises'
import type { Retention } from '../../shared/recordings/recording-rule.ts'
import type { RecordedStream } from '../../shared/recordings/segment.ts'
import type { RecordingSettings } from '../../shared/settings/recording.ts'
import type { Store } from '../store/store.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import type { StoredIndex } from './index/stored-index.ts'
import type { RecordedSource } from './recording-index.ts'
import type { Space } from './disk-space.ts'

const gigabyte = 1_000_000_000
const hourMs = 60 * 60_000
const dayMs = 24 * hourMs
/** Interval between two rounds through all sources, in milliseconds. */
const roundMs = 60_000
/** Number of segments deleted before yielding to the event loop: the deletion takes a few milliseconds. */
const chunk = 25
/** Maximum number of kept segments counted. */
const maxCounted = 100_000
/** Maximum number of deletions per round to free space. */
const maxChunks = 200
/** Minimum time that uploaded segments stay on the disk, in milliseconds: live viewers read them. */
const minLocalMs = 10 * 60_000
/** Minimum time that segments for live viewing are kept, in milliseconds. */
const liveMs = 120_000
/** Age at which gaps are deleted, in milliseconds. */
const gapMs = 90 * dayMs

export interface RetentionDependencies {
  store: Pick<Store, 'get' | 'leadership'>
  index: StoredIndex
  settings: () => RecordingSettings
  /** Hours for which uploaded segments stay on the disk. */
  localHours: () => number
  /** Whether finished segments should be uploaded. */
  isUploading: () => boolean
  /**
   * Called when segments were deleted to free space before they were uploaded. Called at most once an hour, with the
   * number of bytes since the last call.
   */
  notUploaded: (bytes: number) => void
  /** Called when files of deleted segments have to be removed. */
  deleted: () => void
  logger: NodeLogger
  now?: () => number
}

/**
 * Deletes recordings that exceed their maximum age or size, and when the disk is nearly full. Deletes the oldest
 * recordings first, and never deletes kept recordings.
 */
export class RecordingRetention {
  readonly #dependencies: RetentionDependencies
  readonly #now: () => number
  #timer: NodeJS.Timeout | undefined
  #work: Promise<void> | undefined
  #freeing: Promise<void> | undefined
  #stopped = false
  /** Frees other files on the disk. @returns number of bytes being freed */
  #freeFirst: (bytes: number) => number = () => 0
  /** Number of bytes deleted before they were uploaded, and the time of the last report. */
  #notUploaded = { bytes: 0, toldAt: -Infinity }

  constructor(dependencies: RetentionDependencies) {
    this.#dependencies = dependencies
    this.#now = dependencies.now ?? Date.now
  }

  /**
   * Registers a function that frees other files before any recording is deleted.
   * @param free frees at least the given number of bytes if possible, and returns the number of bytes being freed
   */
  freeFirst(free: (bytes: number) => number): void {
    this.#freeFirst = free
  }

  start(): void {
    this.#timer = setInterval(() => this.begin(), roundMs).unref()
    this.begin()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearInterval(this.#timer)
    await this.#work
    await this.#freeing
  }

  /** Whether this controller may continue to delete. */
  get #goesOn(): boolean {
    return !this.#stopped && this.#dependencies.store.leadership.isHeld
  }

  /** Starts a round unless one is running. */
  begin(): void {
    if (!this.#goesOn) return
    this.#work ??= this.round()
      .catch((error: unknown) => this.#dependencies.logger.error({ err: error }, 'old recordings were not deleted'))
      .finally(() => {
        this.#work = undefined
      })
  }

  /** Deletes recordings that exceed their maximum age or size. */
  async round(): Promise<void> {
    const { index, settings, store } = this.#dependencies
    const now = this.#now()
    await this.#repeat(() => index.deletions.deleteLive(now - liveMs, chunk))
    const localMs = Math.max(minLocalMs, this.#dependencies.localHours() * hourMs)
    await this.#repeat(() => index.places.release(now - localMs, chunk))
    const rooms = new Map<string, RecordedSource[]>()
    for (const source of index.sources()) {
      if (!this.#goesOn) return
      const { days, gigabytes } = this.#retentionOf(source)
      if (days > 0) await this.#repeat(() => index.deletions.deleteOldest(source, now - days * dayMs, chunk))
      if (source.device) await this.#shrink([source], gigabytes)
      else rooms.set(source.roomId, [...(rooms.get(source.roomId) ?? []), source])
    }
    for (const [roomId, sources] of rooms) {
      const retention = store.get('rooms', roomId)?.recording?.retention ?? settings().retention
      await this.#shrink(sources, retention.gigabytes)
    }
    await this.#shrinkSite()
    index.deletions.dropGaps(now - gapMs)
  }

  /**
   * Frees disk space. First removes the oldest local files that object storage also contains; then deletes the oldest
   * recordings that are only on the disk.
   * @param waiting size of the files that are already being removed, in bytes
   */
  makeRoom({ free, reserve, margin }: Space, waiting: number): void {
    const needed = reserve + margin - free - waiting
    if (needed <= 0 || !this.#goesOn) return
    const missing = needed - this.#freeFirst(needed)
    if (missing <= 0) return
    this.#freeing ??= this.#makeRoom(missing)
      .catch((error: unknown) => this.#dependencies.logger.error({ err: error }, 'no room was made for recordings'))
      .finally(() => {
        this.#freeing = undefined
      })
  }

  async #makeRoom(bytes: number): Promise<void> {
    const { index, logger } = this.#dependencies
    const before = this.#now() - minLocalMs
    const left = await this.#free(bytes, (count) => index.places.release(before, count))
    if (left < bytes) logger.info({ bytes: bytes - left }, 'uploaded recordings left the disk early: it needs room')
    if (left <= 0) return
    const still = await this.#free(left, (count) => index.deletions.deleteOldestLocal(count))
    if (still < left && this.#dependencies.isUploading()) this.#tellNotUploaded(left - still)
  }

  #tellNotUploaded(bytes: number): void {
    this.#notUploaded.bytes += bytes
    const now = this.#now()
    if (now - this.#notUploaded.toldAt < hourMs) return
    const all = this.#notUploaded.bytes
    this.#notUploaded = { bytes: 0, toldAt: now }
    this.#dependencies.logger.warn(
      { bytes: all },
      'recordings were deleted before they were uploaded: the disk needs room',
    )
    this.#dependencies.notUploaded(all)
  }

  /**
   * Deletes segments that overlap the span, except kept and open segments. Files are removed in the background.
   * @returns sums of the deleted segments, and the number of kept segments
   */
  async deleteSpans(
    streams: readonly RecordedStream[],
    from: number,
    to: number,
  ): Promise<{ segments: number; bytes: number; kept: number }> {
    const { index, deleted } = this.#dependencies
    const sums = { segments: 0, bytes: 0, kept: 0 }
    for (const stream of streams) {
      for (;;) {
        const { segments, bytes } = index.deletions.deleteSpan(stream, { from, to }, chunk)
        sums.segments += segments
        sums.bytes += bytes
        if (segments < chunk) break
        await setImmediate()
      }
      sums.kept += index.extents(stream, from, to, maxCounted).length
    }
    deleted()
    return sums
  }

  /**
   * Calls `remove` until the given number of bytes is freed.
   * @param remove deletes at most the given number of segments
   * @returns number of bytes that could not be freed; zero or negative: enough bytes were freed
   */
  async #free(bytes: number, remove: (count: number) => { segments: number; bytes: number }): Promise<number> {
    let left = bytes
    for (let count = 0; left > 0 && count < maxChunks && this.#goesOn; count++) {
      // Deletes only as many segments as needed: the segments of a site have about the same size.
      const { bytes: all, segments } = this.#dependencies.index.totals()
      const needed = Math.ceil((left * segments) / Math.max(1, all))
      const freed = remove(Math.min(chunk, Math.max(1, needed)))
      if (freed.segments === 0) return left
      left -= freed.bytes
      this.#dependencies.deleted()
      await setImmediate()
    }
    return left
  }

  /** Returns the retention of a camera, or of the room of a person. */
  #retentionOf({ device, roomId, userId }: RecordedSource): Retention {
    const { store, settings } = this.#dependencies
    const own = device ? store.get('devices', userId)?.recording : store.get('rooms', roomId)?.recording
    return own?.retention ?? settings().retention
  }

  /** Deletes the oldest segments of sources until their total size is within the limit. */
  async #shrink(sources: readonly RecordedSource[], gigabytes: number): Promise<void> {
    if (gigabytes === 0) return
    let over = sources.reduce((sum, { bytes }) => sum + bytes, 0) - gigabytes * gigabyte
    const oldest = [...sources].sort((one, other) => one.firstAt - other.firstAt)
    for (const source of oldest) {
      while (over > 0 && this.#goesOn) {
        const count = Math.min(chunk, Math.max(1, Math.ceil((over * source.segments) / Math.max(1, source.bytes))))
        const deleted = this.#dependencies.index.deletions.deleteOldest(source, Number.MAX_SAFE_INTEGER, count)
        if (deleted.segments === 0) break
        over -= deleted.bytes
        this.#dependencies.deleted()
        await setImmediate()
      }
    }
  }

  async #shrinkSite(): Promise<void> {
    const { settings, index } = this.#dependencies
    const { gigabytes } = settings()
    if (gigabytes === 0) return
    await this.#free(index.totals().bytes - gigabytes * gigabyte, (count) => index.deletions.deleteOldestOfAll(count))
  }

  async #repeat(remove: () => { segments: number }): Promise<void> {
    while (this.#goesOn) {
      const { segments } = remove()
      if (segments > 0) this.#dependencies.deleted()
      if (segments < chunk) return
      await setImmediate()
    }
  }
}
