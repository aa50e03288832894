/**
 * Factors of the silence after which a picture has stopped: for the session's stall time, and for the longest gap so
 * far.
 */
const stallFactor = 12
const gapFactor = 4

/** Tracks the arrival of a session's RTP packets. */
export class PacketArrivals {
  readonly #first = Promise.withResolvers<void>()
  /**
   * Monotonic clock (`performance.now()`): changing the system clock must not make a camera appear silent. 0 before the
   * first packet.
   */
  #lastAt = 0

  constructor() {
    // Rejections are reported by `first` only, which may not be awaited.
    this.#first.promise.catch(() => {})
  }

  /** Resolves with the first packet; rejects with the error of `fail`. */
  get first(): Promise<void> {
    return this.#first.promise
  }

  note(): void {
    if (this.#lastAt === 0) this.#first.resolve()
    this.#lastAt = performance.now()
  }

  /** Rejects the wait for the first packet. */
  fail(error: Error): void {
    this.#first.reject(error)
  }

  get silentMs(): number {
    return performance.now() - this.#lastAt
  }
}

/**
 * Detects a camera whose picture has stopped while its sound continues. Still cameras send a picture only every few
 * seconds. So the limit is several times the stall time of the session (60 s by default), and several times the longest
 * gap between packets so far. A camera that has not sent a picture yet may have none.
 */
export class PictureSilence {
  readonly #minMs: number
  #place = -1
  #since = 0
  #maxGapMs = 0

  /** @param stallMs silence after which a whole session has stalled */
  constructor(stallMs: number) {
    this.#minMs = stallMs * stallFactor
  }

  /**
   * Takes the latest place of the picture.
   * @param place of its last packet, different for each packet; -1 before the first
   * @param now milliseconds of a monotonic clock
   * @returns milliseconds of silence if the picture has stopped; otherwise 0
   */
  note(place: number, now: number): number {
    const silentMs = now - this.#since
    if (place !== this.#place) {
      if (this.#place !== -1) this.#maxGapMs = Math.max(this.#maxGapMs, silentMs)
      this.#place = place
      this.#since = now
      return 0
    }
    return place !== -1 && silentMs > Math.max(this.#minMs, this.#maxGapMs * gapFactor) ? silentMs : 0
  }
}
