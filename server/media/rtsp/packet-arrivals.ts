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
