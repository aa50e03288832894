/** Length of half a window in milliseconds. Counts include one to two halves. */
const halfMs = 400

interface Half {
  bytes: number
  packets: number
  missed: number
}

const emptyHalf = (): Half => ({ bytes: 0, packets: 0, missed: 0 })

/**
 * Counts of recent bytes, packets and misses, in two halves of which the older is dropped. Times are milliseconds of a
 * monotonic clock.
 */
export class SentWindow {
  #half = emptyHalf()
  #before = emptyHalf()
  /** Length of the older half in milliseconds; 0: there is none. */
  #beforeMs = 0
  #since: number

  constructor(now: number) {
    this.#since = now
  }

  restart(now: number): void {
    this.#half = emptyHalf()
    this.#before = emptyHalf()
    this.#beforeMs = 0
    this.#since = now
  }

  sent(bytes: number): void {
    this.#half.bytes += bytes
    this.#half.packets += 1
  }

  /** Counts a packet that the viewer misses. */
  miss(now: number): void {
    this.#turn(now)
    this.#half.missed += 1
  }

  /** Bits per second; 0 until enough time has passed. */
  rate(now: number): number {
    this.#turn(now)
    const ms = now - this.#since + this.#beforeMs
    return ms < halfMs / 2 ? 0 : ((this.#half.bytes + this.#before.bytes) * 8_000) / ms
  }

  get missed(): number {
    return this.#half.missed + this.#before.missed
  }

  /** Share of missed packets, 0 to 1. */
  get missedShare(): number {
    const packets = this.#half.packets + this.#before.packets
    return packets === 0 ? 0 : Math.min(1, this.missed / packets)
  }

  #turn(now: number): void {
    const ms = now - this.#since
    if (ms < halfMs) return
    this.#before = this.#half
    this.#beforeMs = ms
    this.#half = emptyHalf()
    this.#since = now
  }
}
