import { openInside } from '../../../shared/files/real-path.ts'
import { recordedPath } from '../../../shared/files/recorded-path.ts'
import type { NodeLogger } from '../../nodes/port/node-failure.ts'
import type { StoredIndex } from '../index/stored-index.ts'
import type { IndexedSegment } from '../recording-index.ts'
import type { ObjectClient } from './object-client.ts'
import { ObjectError } from './object-error.ts'
import { objectFacts } from './site-bucket.ts'

/** Maximum number of concurrent uploads. */
const atOnce = 3
/** Number of segments read from the index per round. */
const batch = 24
/** Time after which a failed file is retried, in milliseconds, if other files can be uploaded. */
const againMs = 10 * 60_000
/** Maximum number of failed files that wait for a retry. */
const maxAside = 500

export interface UploadsDependencies {
  /** Recordings folder. */
  folder: string
  index: StoredIndex
  isWanted: () => boolean
  uploaded: (bytes: number) => void
  logger: NodeLogger
  now: () => number
}

/**
 * Uploads finished segments, the oldest first, a few at a time. The index is updated only after the storage was
 * verified to contain the same bytes.
 */
export class Uploads {
  readonly #dependencies: UploadsDependencies
  /** Files whose upload failed, with the time of the next attempt and the reason. */
  readonly #aside = new Map<string, { until: number; error: unknown }>()
  #running = 0

  constructor(dependencies: UploadsDependencies) {
    this.#dependencies = dependencies
  }

  /** Number of running uploads. */
  get running(): number {
    return this.#running
  }

  /** Problem of a file whose upload failed; undefined: none. */
  get fault(): ObjectError | undefined {
    for (const { error } of this.#aside.values()) if (error instanceof ObjectError) return error
    return undefined
  }

  /** Makes all files eligible for upload again. */
  forgetFaults(): void {
    this.#aside.clear()
  }

  /**
   * Uploads up to `batch` segments.
   * @returns number of uploaded segments
   * @throws ObjectError if the storage is unusable now; reason of the signal
   */
  async round(client: ObjectClient, signal: AbortSignal): Promise<number> {
    const { index, now } = this.#dependencies
    for (const [file, { until }] of this.#aside) if (until <= now()) this.#aside.delete(file)
    const waiting = index.places.waiting(batch + this.#aside.size)
    const queue = waiting.filter(({ file }) => !this.#aside.has(file)).slice(0, batch)
    // The first failure of the storage aborts the other uploads.
    const stop = new AbortController()
    const both = AbortSignal.any([signal, stop.signal])
    let done = 0
    const work = async (): Promise<void> => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        if (both.aborted || !this.#dependencies.isWanted()) return
        if (await this.#upload(client, next, both)) done += 1
      }
    }
    const results = await Promise.allSettled(
      Array.from({ length: atOnce }, async () => {
        try {
          await work()
        } catch (error) {
          stop.abort()
          throw error
        }
      }),
    )
    signal.throwIfAborted()
    const failed = results.find(
      (result) => result.status === 'rejected' && (result.reason instanceof ObjectError || !stop.signal.aborted),
    )
    if (failed?.status === 'rejected') throw failed.reason
    return done
  }

  async #upload(client: ObjectClient, segment: IndexedSegment, signal: AbortSignal): Promise<boolean> {
    const { folder, index, uploaded } = this.#dependencies
    this.#running += 1
    try {
      const path = recordedPath(folder, segment.file)
      index.places.willSend(segment.file)
      await client.putFile(segment.file, () => openInside(folder, path), objectFacts(segment), signal)
      index.places.sent(segment)
      uploaded(segment.bytes)
      return true
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof ObjectError && !error.isOfObject) throw error
      this.#setAside(segment, error)
      return false
    } finally {
      this.#running -= 1
    }
  }

  #setAside({ id, file }: IndexedSegment, error: unknown): void {
    const { index, logger, now } = this.#dependencies
    // The segment was deleted meanwhile: nothing has to be uploaded.
    if (index.segment(id) === undefined) return
    if (this.#aside.size >= maxAside) throw error instanceof ObjectError ? error : new ObjectError('refused', 'files')
    this.#aside.set(file, { until: now() + againMs, error })
    logger.warn({ err: error, file }, 'a recording could not be uploaded, and is tried again later')
  }
}
