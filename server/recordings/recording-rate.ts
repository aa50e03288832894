const minuteMs = 60_000
/** Number of minutes over which the rate is measured. */
const minutes = 10

/** Average number of bytes recorded per second, over the last ten minutes. Segments count when they end. */
export class RecordingRate {
  readonly #buckets = new Map<number, number>()
  #firstAt: number | undefined

  add(bytes: number, now: number): void {
    const bucket = Math.floor(now / minuteMs)
    this.#firstAt ??= now
    this.#buckets.set(bucket, (this.#buckets.get(bucket) ?? 0) + bytes)
    for (const old of this.#buckets.keys()) if (old <= bucket - minutes) this.#buckets.delete(old)
  }

  /** Returns the rate, in bytes per second; 0: nothing was recorded in the last ten minutes. */
  perSecond(now: number): number {
    if (this.#firstAt === undefined) return 0
    const oldest = Math.floor(now / minuteMs) - minutes
    let bytes = 0
    for (const [bucket, sum] of this.#buckets) if (bucket > oldest) bytes += sum
    // The first segments were recorded in the minute before they were counted.
    const measuredMs = Math.min(minutes * minuteMs, Math.max(minuteMs, now - this.#firstAt + minuteMs))
    return bytes / (measuredMs / 1_000)
  }
}
