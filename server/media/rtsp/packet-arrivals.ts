/**
 * Factors for the session's stall time and for the longest gap so far. A picture that is silent for longer than both
 * products has stopped.
 */
const stallFactor = 12
const gapFactor = 4

/** Tracks the arrival of a session's RTP packets. */
export class PacketArrivals {
  readonly #first = Promise.withResolvers<void>()
  /**
   * Time of the last packet by `performance.now()`: changing the system clock must not make a camera appear silent. 0
   * before the first packet.
   */
  #lastAt = 0

  constructor() {
    // Prevents an unhandled rejection if `first` is not awaited.
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

  /** Rejects `first`, unless the first packet has arrived. */
  fail(error: Error): void {
    this.#first.reject(error)
  }

  get silentMs(): number {
    return performance.now() - this.#lastAt
  }
}

/**
 * Detects a camera whose picture has stopped while its sound continues. Still cameras send a picture only every few
 * seconds. The limit is therefore 12 times the session's stall time, or 4 times the longest gap between pictures so
 * far if that is longer. Before its first packet, a picture is not monitored, because the camera may have none.
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
   * Checks whether the picture has progressed.
   * @param place `CurrentSource.place` of the picture's last packet; -1 before the first packet
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
