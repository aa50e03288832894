import { setImmediate } from 'node:timers/promises'
import { RefusalError } from '../../shared/domain/outcome.ts'
import { ApiError } from '../../shared/result-codes.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import type { ObjectStorageSettings } from '../../shared/settings/recording.ts'
import type { RecordedStream, RecorderEvent } from '../../shared/recordings/segment.ts'
import type { Settings } from '../../shared/settings.ts'
import { mustNotFail } from '../../shared/unawaited.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import type { Store } from '../store/store.ts'
import { rebuildIndex } from './index/rebuild-index.ts'
import type { StoredIndex } from './index/stored-index.ts'
import { DiskDelays } from './disk-delays.ts'
import { KeptSpans } from './kept-spans.ts'
import { MissingFiles } from './missing-files.ts'
import { type ConnectionResult, testConnection } from './objects/test-storage.ts'
import { ObjectClient } from './objects/object-client.ts'
import { ObjectStorage } from './objects/object-storage.ts'
import { SegmentFiles } from './playback/segment-sources.ts'
import type { RecordingChanges, RecordingControl, RecordingWish, StartedBy } from './recording-control.ts'
import { allRecordings, type RecordEvent } from './recording-events.ts'
import { belongsTo, type OrderPool, RecordingOrders } from './recording-orders.ts'
import { RecordingHealth, storageLowMessage } from './recording-health.ts'
import { RecordingRate } from './recording-rate.ts'
import { openStorage, type RecordingStorage } from './recording-storage.ts'
import type { RecordingRequest, RecordingRequests } from './recording-requests.ts'
import { RecordingWishes } from './recording-wishes.ts'
import { RecorderIntake } from './recorder-intake.ts'
import type { RecordingsFolder } from './recordings-folder.ts'
import { repairOpen } from './repair-open.ts'
import type { SpaceBudget } from './space-budget.ts'
import type { Space } from './storage-watch.ts'
import { TargetEvents } from './target-events.ts'
import type { WantedTarget } from './wanted-streams.ts'
import { WishEndings } from './wish-endings.ts'
import type { RecordingStatus, RecordingTarget } from '../../shared/domain/recordings.ts'

export interface SiteRecordingsDependencies {
  folder: RecordingsFolder
  store: Store
  pool: OrderPool
  devicesOf: (roomId: string) => ReadonlySet<string>
  settings: () => Settings
  event: RecordEvent
  /** Ports of this site; object storage never uses them. */
  sitePorts: () => readonly number[]
  logger: NodeLogger
  /** Measures the file system; undefined: uses the real one. */
  measure?: ((folder: string) => Promise<Pick<Space, 'free' | 'capacity'>>) | undefined
}

/** Number of segments that `delete` removes before yielding to the event loop. */
const chunk = 25
/** Maximum number of segments counted. */
const maxCounted = 100_000

/** Space of the recordings' disk for other files. */
interface SharedSpace {
  /** Budget for other files on the disk. */
  budget: SpaceBudget
  /** See RecordingRetention. */
  freeFirst: (free: (bytes: number) => number) => void
}

/**
 * Recordings of a site: targets, running recordings, index and space. If the folder is unusable, every method except
 * the status refuses.
 */
export class SiteRecordings implements RecordingControl, RecordingChanges, RecordingRequests {
  readonly #dependencies: SiteRecordingsDependencies
  readonly kept: KeptSpans
  readonly orders: RecordingOrders
  /** Receives the reports of the recorders. */
  readonly intake: RecorderIntake | undefined
  readonly #wishes: RecordingWishes
  readonly #endings: WishEndings
  readonly #storage: RecordingStorage | undefined
  /** Undefined if the folder is unusable. */
  readonly objects: ObjectStorage | undefined
  /** Files of the segments in all places; undefined if the folder is unusable. */
  readonly files: SegmentFiles | undefined
  readonly #missing: MissingFiles | undefined
  readonly #rate = new RecordingRate()
  readonly #delays: DiskDelays
  readonly #targetListeners = new Set<(roomIds: readonly string[]) => void>()
  readonly #events: TargetEvents
  readonly #stop = new AbortController()
  readonly #measured = Promise.withResolvers<void>()
  readonly #stops: (() => void)[] = []
  #rebuilding: { done: number; total: number } | undefined
  readonly #health: RecordingHealth
  readonly #recovering = Promise.withResolvers<void>()
  #work: Promise<unknown> = Promise.resolve()

  constructor(dependencies: SiteRecordingsDependencies) {
    this.#dependencies = dependencies
    const { store, settings, logger, pool, devicesOf, event } = dependencies
    this.kept = new KeptSpans({ store, logger })
    this.#wishes = new RecordingWishes(store)
    this.#endings = new WishEndings({ store, logger })
    this.#storage = this.#openStorage()
    this.objects = this.#storage && this.#makeObjects(this.#storage.index)
    const lost = (segments: number): void => this.#health.noteMissing(segments)
    const { path } = dependencies.folder
    this.#missing =
      this.#storage && new MissingFiles({ ...dependencies, folder: path, index: this.#storage.index, lost })
    this.files =
      this.#storage && new SegmentFiles(dependencies.folder.path, this.objects?.remote, (id) => this.#missing?.note(id))
    this.#events = new TargetEvents(store, event)
    this.#delays = new DiskDelays(event)
    this.orders = new RecordingOrders({
      ...{ store, pool, devicesOf, settings, logger },
      wishes: this.#wishes,
      blocked: () => this.#blocked(),
      isWriting: (roomId, target) => this.recordedNow(roomId).some((stream) => belongsTo(target, stream)),
      changed: (roomId, before, after) => this.#targetsChanged(roomId, before, after),
    })
    this.intake = this.#storage && this.#makeIntake(this.#storage.index)
    this.#health = new RecordingHealth({
      folder: dependencies.folder,
      storage: this.#storage,
      orders: this.orders,
      objects: this.objects,
      objectSettings: () => dependencies.settings().object_storage,
      rate: this.#rate,
      delays: this.#delays,
      writing: () => this.recordedNow().length,
      rebuilding: () => this.#rebuilding,
    })
  }

  /** The index; undefined if the folder is unusable. */
  get index(): StoredIndex | undefined {
    return this.#storage?.index
  }

  /** The index. @throws RefusalError recordingsUnusable */
  get usableIndex(): StoredIndex {
    if (this.#storage === undefined) {
      const problem = this.#dependencies.folder.problem?.message ?? ''
      throw new RefusalError(refusal('recordingsUnusable', { problem }))
    }
    return this.#storage.index
  }

  /** Space of the disk for other files; undefined if the folder is unusable. */
  get space(): SharedSpace | undefined {
    const storage = this.#storage
    return (
      storage && {
        budget: storage.budget,
        freeFirst: (free) => storage.retention.freeFirst(free),
      }
    )
  }

  /** Folder, and the number of bytes of its disk kept free; undefined if it is unusable. */
  get reserved(): { folder: string; reserve: number } | undefined {
    return this.#storage && { folder: this.#dependencies.folder.path, reserve: this.#storage.watch.space.reserve }
  }

  /** Path of the folder; undefined if it is unusable. */
  get folder(): string | undefined {
    return this.#storage === undefined ? undefined : this.#dependencies.folder.path
  }

  /** Resolves when the space was measured for the first time, or if it cannot be measured. */
  get measured(): Promise<void> {
    return this.#measured.promise
  }

  /** Resolves when the index contains the recordings of earlier processes and other controllers. Never rejects. */
  async recovered(): Promise<void> {
    await this.#recovering.promise
    await this.#work
  }

  /** Starts sending orders, before the pool starts. Resolves when the space was measured. Never rejects. */
  async begin(): Promise<void> {
    const { store, folder, event, logger } = this.#dependencies
    if (folder.problem !== undefined) {
      logger.error({ folder: folder.path, problem: folder.problem.code }, folder.problem.message)
      event({
        kind: 'recording.folderFailed',
        level: 'error',
        subject: allRecordings,
        params: { folder: folder.path, code: folder.problem.code },
      })
    }
    this.#events.start()
    this.orders.start()
    this.#endings.start()
    this.#stops.push(
      store.leadership.onChange((isHeld) => {
        if (!isHeld) return
        this.#storage?.retention.begin()
        this.#storage?.removal.begin()
        this.objects?.wake()
      }),
      store.onChange(
        (changes) => {
          for (const { collection } of changes) {
            // The setting for the reserve may have changed.
            if (collection !== 'settings') continue
            mustNotFail(this.#storage?.watch.look())
            this.objects?.settingsChanged()
          }
        },
        ['settings'],
      ),
    )
    if (this.#storage === undefined) {
      this.#recovering.resolve()
      return this.#measured.resolve()
    }
    this.kept.follow(this.#storage.index)
    await this.#storage.watch.start()
    this.#measured.resolve()
    this.#storage.retention.start()
    this.#storage.removal.begin()
    this.#background(this.#recover().finally(() => this.objects?.start()))
    this.#recovering.resolve()
  }

  /** Stops orders and deletions. Resolves when all work has ended. */
  async end(): Promise<void> {
    this.#stop.abort()
    this.orders.stop()
    await this.#endings.stop()
    for (const stop of this.#stops.splice(0)) stop()
    this.#storage?.watch.stop()
    await this.#work
    await this.#missing?.settled()
    await this.kept.close()
    await this.objects?.stop()
    await this.#storage?.retention.stop()
    await this.#storage?.removal.stop()
  }

  /** Closes notes and index, after the last report of the nodes. */
  async close(): Promise<void> {
    await this.intake?.settled()
    await this.#storage?.notes.close()
    this.#storage?.index.close()
  }

  async start(wish: RecordingWish, by: StartedBy): Promise<RecordingTarget> {
    this.#assertPossible(wish)
    await this.#wishes.add(wish, by, Date.now())
    return this.orders.targetOf(wish, by)
  }

  async stop(wish: RecordingWish, by: StartedBy): Promise<boolean> {
    if (this.#dependencies.store.get('rooms', wish.roomId) === undefined) throw new ApiError('roomNotFound')
    await this.#wishes.remove(wish, by)
    return !this.orders.ruleHolds(wish)
  }

  check(roomId: string): void {
    const { store } = this.#dependencies
    if (store.get('rooms', roomId) === undefined) throw new ApiError('roomNotFound')
    const { name, canRecord } = this.orders.node(roomId)
    if (!canRecord)
      throw new ApiError('recordingUnavailable', { refusal: refusal('recordingImpossible', { node: name }) })
    if (this.#blocked() !== undefined) {
      const problem = this.#dependencies.folder.problem?.message ?? storageLowMessage
      throw new ApiError('recordingUnavailable', { refusal: refusal('recordingsUnusable', { problem }) })
    }
  }

  put(request: RecordingRequest): void {
    this.orders.put(request)
  }

  remove(id: string): void {
    this.orders.remove(id)
  }

  /** Returns the streams being recorded. @param roomId room; undefined: all rooms */
  recordedNow(roomId?: string): RecordedStream[] {
    return this.intake?.recordedNow(roomId) ?? []
  }

  targets(roomIds?: readonly string[]): RecordingTarget[] {
    return this.orders.targets(roomIds)
  }

  onTargets(listener: (roomIds: readonly string[]) => void): () => void {
    this.#targetListeners.add(listener)
    return () => this.#targetListeners.delete(listener)
  }

  async delete(
    streams: readonly RecordedStream[],
    from: number,
    to: number,
  ): Promise<{ segments: number; bytes: number; kept: number }> {
    const index = this.usableIndex
    const sums = { segments: 0, bytes: 0, kept: 0 }
    for (const stream of streams) {
      for (;;) {
        const { segments, bytes } = index.deleteSpan(stream, { from, to }, chunk)
        sums.segments += segments
        sums.bytes += bytes
        if (segments < chunk) break
        await setImmediate()
      }
      sums.kept += index.extents(stream, from, to, maxCounted).length
    }
    this.#storage?.removal.begin()
    return sums
  }

  /** Tests object storage with the given settings. Never rejects. */
  async testObjects(settings: ObjectStorageSettings): Promise<ConnectionResult> {
    const client = new ObjectClient(settings, this.#dependencies.sitePorts)
    try {
      return await testConnection(client, this.#dependencies.store)
    } finally {
      client.close()
    }
  }

  /** Returns the status. @param mayShow whether the caller may see a target */
  status(mayShow: (target: RecordingTarget) => boolean): RecordingStatus {
    return this.#health.status(mayShow)
  }

  /** Lists problems that require the operator's attention. */
  problems(): RecordingStatus['problems'] {
    return this.#health.problems()
  }

  /** Handles a report of a recorder. */
  take(node: string, event: RecorderEvent): void {
    this.intake?.take(node, event)
  }

  /** Handles the end of a node's process. */
  restarted(node: string): void {
    this.intake?.restarted(node)
    this.orders.restarted(node)
  }

  #openStorage(): RecordingStorage | undefined {
    const { folder, logger } = this.#dependencies
    if (folder.problem !== undefined) return undefined
    return openStorage({
      ...this.#dependencies,
      folder: folder.path,
      indexFolder: folder.indexFolder,
      settings: () => this.#dependencies.settings().recording,
      localHours: () => this.#dependencies.settings().object_storage.keep_local_hours,
      isUploading: () => this.#dependencies.settings().object_storage.enabled,
      notUploaded: (bytes) => {
        this.#dependencies.event({
          kind: 'recording.notUploaded',
          level: 'error',
          subject: allRecordings,
          params: { bytes },
        })
      },
      rate: this.#rate,
      isKept: (stream, from, to) => this.kept.covers(stream, from, to),
      isBusy: () => this.intake?.isBusy ?? false,
      lowChanged: (low, space) => this.#lowChanged(low, space),
      removed: () => this.objects?.wake(),
      damaged: (reason) => {
        logger.error({ reason }, 'the index of the recordings is damaged: it is rebuilt from the recordings')
        this.#background(setImmediate().then(() => this.#rebuild()))
      },
    })
  }

  #makeObjects(index: StoredIndex): ObjectStorage {
    const { folder, store, settings, sitePorts, logger, event } = this.#dependencies
    return new ObjectStorage({
      ...{ index, store, sitePorts, logger },
      folder: folder.path,
      settings: () => settings().object_storage,
      isSettled: () => this.#rebuilding === undefined,
      failing: (problem, detail) => {
        const { endpoint, bucket } = settings().object_storage
        const kind = problem === undefined ? 'recording.objectsBack' : 'recording.objectsFailed'
        event({
          kind,
          level: problem === undefined ? 'info' : 'warning',
          subject: allRecordings,
          params: { endpoint, bucket, ...(problem === undefined ? {} : { code: problem, detail }) },
        })
      },
    })
  }

  #makeIntake(index: StoredIndex): RecorderIntake {
    const { store, pool, event, logger, folder } = this.#dependencies
    return new RecorderIntake({
      index,
      rate: this.#rate,
      isOrdered: (node, stream) => this.orders.given.covers(node, stream),
      isLiveOnly: (stream) => this.orders.windowOf(stream) !== undefined,
      stopReason: (stream) =>
        this.#blocked() === 'storageLow' && this.orders.wants(stream) ? 'storageLow' : undefined,
      namesOf: ({ roomId, userId }) => {
        const device = store.get('devices', userId)
        const userName = device?.userName ?? pool.user(roomId, userId)?.userName ?? userId
        return { userName, topic: store.get('rooms', roomId)?.topic ?? '', device: device !== undefined }
      },
      repair: (segment) => repairOpen(folder.path, segment, logger),
      changed: (roomId) => this.#announce(roomId),
      failing: ({ roomId, userId }, reason) => this.#health.noteFailure(`${roomId}/${userId}`, reason),
      late: (node, ms) => this.#delays.note(node, ms),
      repaired: (segment) => {
        const subject = { type: 'recording', id: segment.file, name: segment.userName } as const
        event({
          kind: 'recording.repaired',
          subject,
          room: segment.roomId,
          params: { from: segment.startedAt, to: segment.endedAt },
        })
      },
      logger,
    })
  }

  /** Completes the work of an earlier process, and rebuilds a new index. */
  async #recover(): Promise<void> {
    if (this.index?.isNew === true) await this.#rebuild()
    else {
      await this.intake?.start()
      if (this.index !== undefined) await this.kept.markAll(this.index)
    }
    this.#closeGaps()
  }

  /** Ends the gaps of streams that should not be recorded any more. */
  #closeGaps(roomId?: string): void {
    const { index } = this
    if (index === undefined) return
    const now = Date.now()
    const query = roomId === undefined ? {} : { roomId }
    for (const gap of index.gaps({ ...query, from: now, limit: maxCounted })) {
      const isPaused = gap.reason === 'paused' && this.#dependencies.store.get('devices', gap.userId)?.paused === true
      if (gap.to === null && !isPaused && !this.orders.wants(gap)) index.endGap(gap, now)
    }
  }

  async #rebuild(): Promise<void> {
    const { folder, logger } = this.#dependencies
    const { index, intake } = this
    if (index === undefined || intake === undefined || this.#rebuilding !== undefined) return
    this.#rebuilding = { done: 0, total: 0 }
    try {
      const rebuilt = await rebuildIndex({
        folder: folder.path,
        index,
        isOpen: (file) => intake.isOpen(file),
        progress: (done, total) => {
          this.#rebuilding = { done, total }
        },
        signal: this.#stop.signal,
        logger,
      })
      await this.kept.markAll(index)
      // Time lines read during the rebuild were incomplete.
      for (const roomId of new Set(index.sources().map((source) => source.roomId))) this.#announce(roomId)
      if (rebuilt.segments > 0) logger.info({ ...rebuilt }, 'the index of the recordings was rebuilt')
    } finally {
      this.#rebuilding = undefined
    }
  }

  #background(work: Promise<void>): void {
    const guarded = work.catch((error: unknown) => {
      if (!this.#stop.signal.aborted)
        this.#dependencies.logger.error({ err: error }, 'the recordings could not be read')
    })
    this.#work = Promise.all([this.#work, guarded])
  }

  #blocked(): 'off' | 'storageLow' | undefined {
    if (this.#storage === undefined) return 'off'
    return this.#storage.watch.isLow ? 'storageLow' : undefined
  }

  #assertPossible({ roomId }: RecordingWish): void {
    if (this.#dependencies.store.get('rooms', roomId) === undefined) throw new ApiError('roomNotFound')
    void this.usableIndex
    const { name, canRecord } = this.orders.node(roomId)
    if (!canRecord) throw new RefusalError(refusal('recordingImpossible', { node: name }))
  }

  #targetsChanged(roomId: string, before: readonly WantedTarget[], after: readonly WantedTarget[]): void {
    this.#events.changed(roomId, before, after)
    this.#closeGaps(roomId)
    this.#notePaused(roomId, before, after)
    this.#announce(roomId)
  }

  /** Adds a gap to the time line of cameras that should be recorded but were paused. */
  #notePaused(roomId: string, before: readonly WantedTarget[], after: readonly WantedTarget[]): void {
    const { store } = this.#dependencies
    for (const { userId, quality, device } of before) {
      const found = store.get('devices', userId)
      if (!device || found?.paused !== true || after.some((target) => target.userId === userId)) continue
      const gap = { roomId, userId, source: 'main', quality, from: Date.now(), to: null, reason: 'paused' } as const
      const topic = store.get('rooms', roomId)?.topic ?? ''
      this.index?.gap(gap, { userName: found.userName, topic, device })
    }
  }

  #announce(roomId: string): void {
    for (const listener of this.#targetListeners) listener([roomId])
  }

  #lowChanged(low: boolean, { free, reserve }: Space): void {
    this.#health.noteLow(low)
    const { event, logger, folder } = this.#dependencies
    const params = { free, reserve, folder: folder.path }
    event({
      kind: low ? 'recording.storageLow' : 'recording.storageBack',
      level: low ? 'error' : 'info',
      subject: allRecordings,
      params,
    })
    logger[low ? 'error' : 'info'](
      { ...params },
      low ? 'recording stops: the disk is nearly full' : 'recording goes on: the disk has room again',
    )
    this.orders.reviewAll()
  }
}
