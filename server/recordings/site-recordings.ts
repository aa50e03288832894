import { setImmediate } from 'node:timers/promises'
import { RefusalError } from '../../shared/domain/outcome.ts'
import { ApiError } from '../../shared/result-codes.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import type { ObjectStorageSettings } from '../../shared/settings/recording.ts'
import type { RecordedStream } from '../../shared/recordings/segment.ts'
import type { Settings } from '../../shared/settings.ts'
import { mustNotFail } from '../../shared/unawaited.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import type { Store } from '../store/store.ts'
import { IndexRecovery } from './index-recovery.ts'
import type { StoredIndex } from './index/stored-index.ts'
import { KeptSpans } from './kept-spans.ts'
import { MissingFiles } from './missing-files.ts'
import { type ConnectionResult, testObjectStorage } from './objects/site-bucket.ts'
import { ObjectClient } from './objects/object-client.ts'
import { ObjectStorage } from './objects/object-storage.ts'
import { SegmentFiles } from './playback/segment-sources.ts'
import type { RecordingControl, ManualRecording, StartedBy } from './recording-control.ts'
import { type RecordEvent, RecordingNotices, TargetEvents } from './recording-events.ts'
import { type OrderPool, type RecordingBlock, RecordingOrders } from './recording-orders.ts'
import { RecordingTargets } from './recording-targets.ts'
import { DiskDelays, RecordingHealth, storageLowMessage } from './recording-health.ts'
import { openStorage, type RecordingStorage } from './recording-storage.ts'
import { ManualRecordingEndings, ManualRecordings } from './manual-recordings.ts'
import { RecorderIntake } from './recorder-intake.ts'
import type { RecordingsFolder } from './recordings-folder.ts'
import { repairOpen } from './index/recorded-files.ts'
import { RecordingRate, type Space } from './disk-space.ts'
import { StreamGaps } from './stream-gaps.ts'
import type { WantedTarget } from './wanted-streams.ts'
import type { RecordingTarget } from '../../shared/domain/recordings.ts'

export interface SiteRecordingsDependencies {
  folder: RecordingsFolder
  store: Store
  pool: OrderPool
  devicesOf: (roomId: string) => ReadonlySet<string>
  settings: () => Settings
  event: RecordEvent
  /** Ports of this site, to which requests to object storage never go. */
  sitePorts: () => readonly number[]
  logger: NodeLogger
  /** Measures the file system; undefined: measures the real file system. */
  measure?: ((folder: string) => Promise<Pick<Space, 'free' | 'capacity'>>) | undefined
}

/**
 * Recordings of a site: targets, running recordings, index and space. If the folder is unusable, nothing is recorded,
 * and only the status is available.
 */
export class SiteRecordings implements RecordingControl {
  readonly #dependencies: SiteRecordingsDependencies
  readonly kept: KeptSpans
  readonly orders: RecordingOrders
  /** Targets with their state. */
  readonly targets: RecordingTargets
  /** Receives the reports of the recorders. */
  readonly intake: RecorderIntake | undefined
  readonly #manual: ManualRecordings
  readonly #endings: ManualRecordingEndings
  /** Index, space and retention; undefined if the folder is unusable. */
  readonly storage: RecordingStorage | undefined
  /** Object storage; undefined: the folder is unusable. */
  readonly objects: ObjectStorage | undefined
  /** Files of the segments in all places; undefined if the folder is unusable. */
  readonly files: SegmentFiles | undefined
  readonly #missing: MissingFiles | undefined
  readonly #rate = new RecordingRate()
  readonly #delays: DiskDelays
  readonly #targetListeners = new Set<(roomIds: readonly string[]) => void>()
  readonly #events: TargetEvents
  readonly #notices: RecordingNotices
  readonly #measured = Promise.withResolvers<void>()
  readonly #stops: (() => void)[] = []
  readonly #gaps: StreamGaps | undefined
  readonly #recovery: IndexRecovery | undefined
  /** Status and problems of the recordings. */
  readonly health: RecordingHealth
  readonly #recovering = Promise.withResolvers<void>()

  constructor(dependencies: SiteRecordingsDependencies) {
    this.#dependencies = dependencies
    const { folder, store, settings, logger, pool, devicesOf, event } = dependencies
    this.kept = new KeptSpans({ store, logger })
    this.#notices = new RecordingNotices(dependencies)
    this.#manual = new ManualRecordings(store)
    this.#endings = new ManualRecordingEndings({ store, logger })
    this.storage = this.#openStorage()
    this.objects = this.storage && this.#makeObjects(this.storage.index)
    const lost = (segments: number): void => this.health.noteMissing(segments)
    const { path } = folder
    this.#missing = this.storage && new MissingFiles({ ...dependencies, folder: path, index: this.storage.index, lost })
    this.files = this.storage && new SegmentFiles(path, this.objects?.remote, (id) => this.#missing?.note(id))
    this.#events = new TargetEvents(store, event)
    this.#delays = new DiskDelays(event)
    this.orders = new RecordingOrders({
      ...{ store, pool, devicesOf, settings, logger },
      manual: this.#manual,
      blocked: () => this.#blocked(),
      changed: (roomId, before, after) => this.#targetsChanged(roomId, before, after),
    })
    if (this.storage !== undefined) {
      const { index } = this.storage
      this.intake = this.#makeIntake(this.storage)
      this.#gaps = new StreamGaps(index, store, this.orders.rooms)
      this.#recovery = new IndexRecovery({
        ...{ folder: path, index, intake: this.intake, kept: this.kept, logger },
        changed: (roomId) => this.#announce(roomId),
        recovered: () => this.#gaps?.close(),
      })
    }
    this.targets = new RecordingTargets({ store, pool, orders: this.orders, intake: this.intake })
    this.health = new RecordingHealth({
      folder,
      targets: this.targets,
      storage: this.storage,
      orders: this.orders,
      objects: this.objects,
      objectSettings: () => dependencies.settings().object_storage,
      rate: this.#rate,
      delays: this.#delays,
      writing: () => this.recordedNow().length,
      rebuilding: () => this.#recovery?.progress,
    })
  }

  /** The usable storage. @throws RefusalError recordingsUnusable */
  get usable(): RecordingStorage {
    if (this.storage === undefined) {
      const problem = this.#dependencies.folder.problem?.message ?? ''
      throw new RefusalError(refusal('recordingsUnusable', { problem }))
    }
    return this.storage
  }

  /** Resolves when the space was measured for the first time, or if it cannot be measured. */
  get measured(): Promise<void> {
    return this.#measured.promise
  }

  /** Resolves when the index contains the recordings of earlier processes and other controllers. Never rejects. */
  async recovered(): Promise<void> {
    await this.#recovering.promise
    await this.#recovery?.settled()
  }

  /** Starts sending orders, before the pool starts. Resolves when the space was measured. Never rejects. */
  async begin(): Promise<void> {
    const { store } = this.#dependencies
    this.#notices.folderOpened()
    this.#events.start()
    this.orders.start()
    this.#endings.start()
    this.#stops.push(
      store.leadership.onChange((isHeld) => {
        if (!isHeld) return
        this.storage?.retention.begin()
        this.storage?.removal.begin()
        this.objects?.wake()
      }),
      store.onChange(
        (changes) => {
          for (const { collection } of changes) {
            // The setting for the reserve may have changed.
            if (collection !== 'settings') continue
            mustNotFail(this.storage?.watch.look())
            this.objects?.settingsChanged()
          }
        },
        ['settings'],
      ),
    )
    if (this.storage === undefined) {
      this.#recovering.resolve()
      return this.#measured.resolve()
    }
    this.kept.follow(this.storage.index.writer)
    await this.storage.watch.start()
    this.#measured.resolve()
    this.storage.retention.start()
    this.storage.removal.begin()
    mustNotFail(this.#recovery?.begin().finally(() => this.objects?.start()))
    this.#recovering.resolve()
  }

  /** Stops orders and deletions. Resolves when all work has ended. */
  async end(): Promise<void> {
    this.#recovery?.stop()
    this.orders.stop()
    await this.#endings.stop()
    for (const stop of this.#stops.splice(0)) stop()
    this.storage?.watch.stop()
    await this.#recovery?.settled()
    await this.#missing?.settled()
    await this.kept.close()
    await this.objects?.stop()
    await this.storage?.retention.stop()
    await this.storage?.removal.stop()
  }

  /** Closes notes and index, after the last report of the nodes. */
  async close(): Promise<void> {
    await this.intake?.settled()
    await this.storage?.notes.close()
    this.storage?.index.close()
  }

  async start(manual: ManualRecording, by: StartedBy): Promise<RecordingTarget> {
    this.#assertPossible(manual)
    await this.#manual.add(manual, by, Date.now())
    return this.targets.of(manual, by)
  }

  async stop(manual: ManualRecording, by: StartedBy): Promise<boolean> {
    if (this.#dependencies.store.get('rooms', manual.roomId) === undefined) throw new ApiError('roomNotFound')
    await this.#manual.remove(manual, by)
    return !this.orders.ruleHolds(manual)
  }

  /** Returns the streams being recorded. @param roomId room; undefined: all rooms */
  recordedNow(roomId?: string): RecordedStream[] {
    return this.intake?.recordedNow(roomId) ?? []
  }

  onTargets(listener: (roomIds: readonly string[]) => void): () => void {
    this.#targetListeners.add(listener)
    return () => this.#targetListeners.delete(listener)
  }

  /** Tests object storage with the given settings. Never rejects. */
  async testObjects(settings: ObjectStorageSettings): Promise<ConnectionResult> {
    const client = new ObjectClient(settings, this.#dependencies.sitePorts)
    try {
      return await testObjectStorage(client, this.#dependencies.store)
    } finally {
      client.close()
    }
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
      notUploaded: (bytes) => this.#notices.notUploaded(bytes),
      rate: this.#rate,
      kept: this.kept,
      isBusy: () => this.intake?.isBusy ?? false,
      lowChanged: (low, space) => this.#lowChanged(low, space),
      removed: () => this.objects?.wake(),
      damaged: (reason) => {
        logger.error({ reason }, 'the index of the recordings is damaged: it is rebuilt from the recordings')
        // Damage may be detected while the index is opened, before `#recovery` is created.
        mustNotFail(setImmediate().then(() => this.#recovery?.repair()))
      },
    })
  }

  #makeObjects(index: StoredIndex): ObjectStorage {
    const { folder, store, settings, sitePorts, logger } = this.#dependencies
    return new ObjectStorage({
      ...{ index, store, sitePorts, logger },
      folder: folder.path,
      settings: () => settings().object_storage,
      isSettled: () => this.#recovery?.progress === undefined,
      failing: (problem, detail) => this.#notices.objectsChanged(problem, detail),
    })
  }

  #makeIntake({ index, watch }: RecordingStorage): RecorderIntake {
    const { store, pool, logger, folder } = this.#dependencies
    return new RecorderIntake({
      index,
      rate: this.#rate,
      orders: this.orders.rooms,
      space: watch,
      namesOf: ({ roomId, userId }) => {
        const device = store.get('devices', userId)
        const userName = device?.userName ?? pool.presence.user(roomId, userId)?.userName ?? userId
        return { userName, topic: store.get('rooms', roomId)?.topic ?? '', device: device !== undefined }
      },
      repair: (segment) => repairOpen(folder.path, segment, logger),
      changed: (roomId) => this.#announce(roomId),
      failing: ({ roomId, userId }, reason) => this.health.noteFailure(`${roomId}/${userId}`, reason),
      late: (node, ms) => this.#delays.note(node, ms),
      repaired: (segment) => this.#notices.repaired(segment),
      logger,
    })
  }

  #blocked(): RecordingBlock | undefined {
    const { problem } = this.#dependencies.folder
    if (this.storage === undefined) return { reason: 'off', message: problem?.message ?? '' }
    return this.storage.watch.isLow ? { reason: 'storageLow', message: storageLowMessage } : undefined
  }

  #assertPossible({ roomId }: ManualRecording): void {
    if (this.#dependencies.store.get('rooms', roomId) === undefined) throw new ApiError('roomNotFound')
    void this.usable
    const { name, canRecord } = this.orders.node(roomId)
    if (!canRecord) throw new RefusalError(refusal('recordingImpossible', { node: name }))
  }

  #targetsChanged(roomId: string, before: readonly WantedTarget[], after: readonly WantedTarget[]): void {
    this.#events.changed(roomId, before, after)
    this.#gaps?.close(roomId)
    this.#gaps?.notePaused(roomId, before, after)
    this.#announce(roomId)
  }

  #announce(roomId: string): void {
    for (const listener of this.#targetListeners) listener([roomId])
  }

  #lowChanged(low: boolean, space: Space): void {
    this.health.noteLow(low)
    this.#notices.spaceChanged(low, space)
    this.orders.reviewAll()
  }
}
