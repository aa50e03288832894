/** Silence after which a picture counts as stopped: multiples of the session's stall time, and of the longest gap so far. */
const stallFactor = 12
const gapFactor = 4

/** Arrival of a session's RTP packets. */
export class PacketArrivals {
  readonly #first = Promise.withResolvers<void>()
  /** On the clock of `performance.now()`: a wall clock that is set silences no camera. 0 before the first packet. */
  #lastAt = 0

  constructor() {
    // Rejections are for `first` alone, which may not be awaited.
    this.#first.promise.catch(() => {})
  }

  /** Resolves with the first packet, rejects with the error of `fail`. */
  get first(): Promise<void> {
    return this.#first.promise
  }

  /** Notes a packet. */
  note(): void {
    if (this.#lastAt === 0) this.#first.resolve()
    this.#lastAt = performance.now()
  }

  /** Ends the wait for the first packet. */
  fail(error: Error): void {
    this.#first.reject(error)
  }

  /** Milliseconds since the last packet. */
  get silentMs(): number {
    return performance.now() - this.#lastAt
  }
}

/**
 * Tells whether a camera has stopped its picture while its sound goes on. Still cameras send a picture in some seconds only, so the limit is several times that of
 * the whole session (60 s by default), and several times the longest gap between two packets so far. A camera that has sent no picture yet may have none.
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
   * Notes the place of the picture. @returns milliseconds of silence once it has stopped; 0 before
   * @param place of its last packet, different with each packet; -1 before the first
   * @param now milliseconds of a clock that never goes back
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
