const minuteMs = 60_000
/** Minutes over which the rate is measured. */
const minutes = 10

/** Bytes a second that are recorded, over the last ten minutes: segments count when they end. */
export class RecordingRate {
  readonly #buckets = new Map<number, number>()
  #firstAt: number | undefined

  add(bytes: number, now: number): void {
    const bucket = Math.floor(now / minuteMs)
    this.#firstAt ??= now
    this.#buckets.set(bucket, (this.#buckets.get(bucket) ?? 0) + bytes)
    for (const old of this.#buckets.keys()) if (old <= bucket - minutes) this.#buckets.delete(old)
  }

  /** 0: nothing was recorded lately. */
  perSecond(now: number): number {
    if (this.#firstAt === undefined) return 0
    const oldest = Math.floor(now / minuteMs) - minutes
    let bytes = 0
    for (const [bucket, sum] of this.#buckets) if (bucket > oldest) bytes += sum
    // The first segments stand for the minute before them.
    const measuredMs = Math.min(minutes * minuteMs, Math.max(minuteMs, now - this.#firstAt + minuteMs))
    return bytes / (measuredMs / 1_000)
  }
}
