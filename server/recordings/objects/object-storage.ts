import { backoffMs } from '../../../shared/backoff.ts'
import { isRecordedPath } from '../../../shared/files/recorded-path.ts'
import type { ObjectProblem } from '../../../shared/recordings/object-storage.ts'
import type { ObjectStorageSettings } from '../../../shared/settings/recording.ts'
import type { NodeLogger } from '../../nodes/port/node-failure.ts'
import type { Store } from '../../store/store.ts'
import type { StoredIndex } from '../index/stored-index.ts'
import type { RemoteSegments } from '../playback/segment-sources.ts'
import { ObjectCache } from './object-cache.ts'
import { ObjectClient } from './object-client.ts'
import { ObjectError, problemOfRequest } from './object-error.ts'
import { claimBucket, readBucket } from './site-bucket.ts'
import { Uploads } from './uploads.ts'

/** First and maximum delay after a failure, in milliseconds. The delay doubles in between. */
const firstRetryMs = 5_000
const maxRetryMs = 5 * 60_000
/** Interval between checks for work, in milliseconds. A finished segment triggers an earlier check. */
const idleMs = 60_000
/** Number of objects deleted per round. */
const removalBatch = 100
/** Duration after which a failure is reported, in milliseconds: short failures resolve themselves. */
const reportMs = 60_000

export interface ObjectStorageDependencies {
  /** Recordings folder. */
  folder: string
  index: StoredIndex
  store: Pick<Store, 'seal' | 'unseal' | 'leadership'>
  settings: () => ObjectStorageSettings
  /** Ports of this site, to which requests never go. */
  sitePorts: () => readonly number[]
  /** Returns whether objects may be read into the index; false while the index is rebuilt from the folder. */
  isSettled: () => boolean
  /** Called when the storage has failed for a while, or is usable again (`problem` is undefined). */
  failing: (problem: ObjectProblem | undefined, detail: string) => void
  logger: NodeLogger
  now?: (() => number) | undefined
  firstRetryMs?: number | undefined
}

export interface ObjectStorageStatus {
  /** Current problem of the storage or of an upload; null: none. */
  problem: ObjectProblem | null
  detail: string
  /** Start of the storage's failure, in milliseconds since the epoch; 0: the storage is usable. */
  since: number
  uploading: number
}

/**
 * Uploads finished segments to object storage, deletes objects of deleted segments, and reads segments that are only in
 * the storage. All pending work is in the index, so it continues after a restart.
 */
export class ObjectStorage {
  readonly #dependencies: ObjectStorageDependencies
  readonly #now: () => number
  readonly #uploads: Uploads
  readonly #stop = new AbortController()
  readonly remote: RemoteSegments & { close(): Promise<void> }
  #client: { key: string; client: ObjectClient; claimed: boolean } | undefined
  #work: Promise<void> | undefined
  #wake: (() => void) | undefined
  #failure: { error: ObjectError; since: number; count: number; reported: boolean } | undefined
  #unsubscribe: (() => void) | undefined

  constructor(dependencies: ObjectStorageDependencies) {
    this.#dependencies = dependencies
    this.#now = dependencies.now ?? Date.now
    const { folder, index, logger, settings } = dependencies
    this.#uploads = new Uploads({
      ...{ folder, index, logger, now: this.#now },
      isWanted: () => settings().enabled,
      uploaded: () => this.#recovered(),
    })
    this.remote = new ObjectCache(folder, async (file, offset, bytes, signal) => {
      const { client } = this.#current()
      return await client.read(file, offset, bytes, signal)
    })
  }

  /** Starts working in the background. */
  start(): void {
    this.#unsubscribe = this.#dependencies.index.onChange(() => this.wake())
    this.#work ??= this.#run()
  }

  /** Aborts running requests and stops. */
  async stop(): Promise<void> {
    this.#unsubscribe?.()
    this.#stop.abort()
    this.wake()
    await this.#work
    this.#client?.client.close()
    await this.remote.close()
  }

  /** Checks for work now. */
  wake(): void {
    this.#wake?.()
  }

  /** Applies changed settings. If the connection changed, retries at once. */
  settingsChanged(): void {
    if (this.#client?.key !== keyOf(this.#dependencies.settings())) this.#uploads.forgetFaults()
    this.wake()
  }

  status(): ObjectStorageStatus {
    const error = this.#failure?.error ?? this.#uploads.fault
    return {
      problem: error?.problem ?? null,
      detail: error?.detail ?? '',
      since: this.#failure?.since ?? 0,
      uploading: this.#uploads.running,
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      let waitMs = idleMs
      const lease = this.#dependencies.store.leadership.signal()
      try {
        if (await this.#round(AbortSignal.any([signal, lease]))) waitMs = 0
      } catch (error) {
        if (signal.aborted) return
        if (!lease.aborted) waitMs = this.#failed(error)
      }
      if (waitMs > 0) await this.#pause(waitMs)
    }
  }

  /** Does one round of work. @returns whether there may be more work */
  async #round(signal: AbortSignal): Promise<boolean> {
    const { store, index, settings, isSettled } = this.#dependencies
    if (!store.leadership.isHeld) return false
    await store.leadership.confirmed()
    const { enabled, endpoint } = settings()
    const toRemove = index.places.removals(1).length > 0
    if (!isSettled() || endpoint === '' || !(enabled || toRemove)) return false
    const current = this.#current()
    if (!current.claimed) await this.#claim(current, signal)
    const removed = await this.#remove(current.client, signal)
    const uploaded = enabled ? await this.#uploads.round(current.client, signal) : 0
    if (removed > 0 || uploaded > 0) this.#recovered()
    return removed > 0 || uploaded > 0
  }

  async #claim(current: { key: string; client: ObjectClient; claimed: boolean }, signal: AbortSignal): Promise<void> {
    const { store, index, logger, settings } = this.#dependencies
    const { endpoint, bucket, prefix } = settings()
    await claimBucket(current.client, store, signal)
    const name = JSON.stringify([endpoint, bucket, prefix])
    const read = { client: current.client, remote: this.remote, index, bucket: name, signal, logger }
    const added = await readBucket(read)
    if (added > 0) logger.info({ segments: added }, 'recordings in object storage were added to the index')
    current.claimed = true
    this.#recovered()
  }

  async #remove(client: ObjectClient, signal: AbortSignal): Promise<number> {
    const { index } = this.#dependencies
    const found = index.places.removals(removalBatch)
    for (const { id, file } of found) {
      // A row without a valid recording path is dropped: no object is deleted for it.
      if (isRecordedPath(file)) await client.delete(file, signal)
      index.places.removed(id)
    }
    return found.length
  }

  /** Records a failure. @returns delay in milliseconds */
  #failed(error: unknown): number {
    const known = problemOfRequest(error)
    if (!(error instanceof ObjectError)) this.#dependencies.logger.error({ err: error }, 'object storage failed')
    const before = this.#failure
    const now = this.#now()
    const failure = {
      error: known,
      since: before?.since ?? now,
      count: (before?.count ?? 0) + 1,
      reported: before?.reported ?? false,
    }
    if (before?.error.problem !== known.problem)
      this.#dependencies.logger.warn({ problem: known.problem, detail: known.detail }, 'object storage cannot be used')
    if (!failure.reported && (now - failure.since >= reportMs || isOfSettings(known.problem))) {
      failure.reported = true
      this.#dependencies.failing(known.problem, known.detail)
    }
    this.#failure = failure
    const first = this.#dependencies.firstRetryMs ?? firstRetryMs
    // Jitter of ±25 %.
    return backoffMs({ first, max: maxRetryMs }, failure.count) * (0.75 + Math.random() / 2)
  }

  #recovered(): void {
    const before = this.#failure
    this.#failure = undefined
    if (before === undefined) return
    this.#dependencies.logger.info({ problem: before.error.problem }, 'object storage can be used again')
    if (before.reported) this.#dependencies.failing(undefined, '')
  }

  /** Resolves after a delay, or when there is work. */
  async #pause(ms: number): Promise<void> {
    const failed = this.#failure !== undefined
    const key = keyOf(this.#dependencies.settings())
    await new Promise<void>((resolve) => {
      const end = (): void => {
        // While the storage is unreachable, only changed settings or the end of the program interrupt the delay.
        if (failed && !this.#stop.signal.aborted && keyOf(this.#dependencies.settings()) === key) return
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(resolve, ms).unref()
      this.#wake = end
    })
    this.#wake = undefined
  }

  /** Returns the client for the current settings. */
  #current(): { key: string; client: ObjectClient; claimed: boolean } {
    const settings = this.#dependencies.settings()
    const key = keyOf(settings)
    if (this.#client?.key !== key) {
      this.#client?.client.close()
      this.#client = { key, client: new ObjectClient(settings, this.#dependencies.sitePorts), claimed: false }
    }
    return this.#client
  }
}

/** Returns a key that identifies a connection. */
function keyOf({ enabled: _, keep_local_hours: __, ...connection }: ObjectStorageSettings): string {
  return JSON.stringify(connection)
}

/** Whether a problem persists until the settings or the storage are changed. */
function isOfSettings(problem: ObjectProblem): boolean {
  return !['notFound', 'unreachable', 'silent', 'refused'].includes(problem)
}
