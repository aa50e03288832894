import type { CameraSource } from '../../../shared/device-address.ts'
import { mustNotFail } from '../../../shared/unawaited.ts'
import type { CameraLease, CameraPulls } from '../feeds/camera-pulls.ts'
import type { Feed } from '../feeds/feed.ts'

/** Time until a failed or lost substream is pulled again, in milliseconds. */
const againMs = 5_000
/** Timeout of a pull, in milliseconds. */
const answerMs = 10_000

/** A camera's substream that is pulled permanently, with or without viewers. */
export class HeldSubstream {
  readonly #pulls: CameraPulls
  readonly #camera: CameraSource
  readonly #changed: () => void
  readonly #abort = new AbortController()
  #lease: CameraLease | undefined
  #timer: NodeJS.Timeout | undefined
  #isComing = true

  /** @param changed called when the substream becomes available or is lost */
  constructor(pulls: CameraPulls, camera: CameraSource, changed: () => void) {
    this.#pulls = pulls
    this.#camera = camera
    this.#changed = changed
    mustNotFail(this.#acquire())
  }

  /** Feed of the substream; undefined: unavailable. */
  get feed(): Feed | undefined {
    return this.#lease?.feed
  }

  /** Whether the first pull is pending. */
  get isComing(): boolean {
    return this.#isComing
  }

  release(): void {
    this.#abort.abort()
    clearTimeout(this.#timer)
    this.#lease?.release()
    this.#lease = undefined
  }

  async #acquire(): Promise<void> {
    const signal = AbortSignal.any([this.#abort.signal, AbortSignal.timeout(answerMs)])
    try {
      const lease = await this.#pulls.acquire(this.#camera, signal, () => this.#lost())
      if (this.#abort.signal.aborted) return lease.release()
      this.#lease = lease
    } catch {
      // Retried as long as the substream is recorded.
      this.#again()
    }
    this.#isComing = false
    if (!this.#abort.signal.aborted) this.#changed()
  }

  #lost(): void {
    this.#lease = undefined
    this.#again()
    this.#changed()
  }

  #again(): void {
    if (this.#abort.signal.aborted) return
    this.#timer = setTimeout(() => mustNotFail(this.#acquire()), againMs).unref()
  }
}
