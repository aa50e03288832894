import type { CameraSource } from '../../../shared/device-address.ts'
import { mustNotFail } from '../../../shared/unawaited.ts'
import type { CameraLease, CameraPulls } from '../feeds/camera-pulls.ts'
import type { Feed } from '../feeds/feed.ts'

/** Time until a substream that could not be pulled, or was lost, is pulled again, in milliseconds. */
const againMs = 5_000
/** Deadline of a pull, in milliseconds. */
const answerMs = 10_000

/** A camera's substream that is pulled all the time, whether somebody watches it or not. */
export class HeldSubstream {
  readonly #pulls: CameraPulls
  readonly #camera: CameraSource
  readonly #changed: () => void
  readonly #abort = new AbortController()
  #lease: CameraLease | undefined
  #timer: NodeJS.Timeout | undefined
  #isComing = true

  /** @param changed called when it comes or is lost */
  constructor(pulls: CameraPulls, camera: CameraSource, changed: () => void) {
    this.#pulls = pulls
    this.#camera = camera
    this.#changed = changed
    mustNotFail(this.#acquire())
  }

  /** undefined: it is not there. */
  get feed(): Feed | undefined {
    return this.#lease?.feed
  }

  /** It is pulled for the first time. */
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
      // It is pulled again, for as long as it is recorded.
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
