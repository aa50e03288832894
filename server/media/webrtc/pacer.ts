import type { SharedPacket } from '../rtp/packet.ts'
import type { Lifetime } from '../base/lifetime.ts'

/** Interval of sending from the queue, in milliseconds. */
const everyMs = 10
/** Maximum burst after a pause: the bytes that the rate allows in this many milliseconds. */
const atOnceMs = 60

export interface Paced {
  packet: SharedPacket
}

/** Sends no faster than a given rate, for a link whose queue would overflow with a whole picture. */
export class Pacer<Item extends Paced> {
  readonly #lifetime: Lifetime
  readonly #send: (item: Item) => void
  #queue: Item[] = []
  #bytes = 0
  #allowance = 0
  #lookedAt = 0
  #looking = false
  #restUntil = -Infinity
  /** Bits per second. */
  rate: number

  constructor(lifetime: Lifetime, rate: number, send: (item: Item) => void) {
    this.#lifetime = lifetime
    this.#send = send
    this.rate = rate
  }

  get empty(): boolean {
    return this.#queue.length === 0
  }

  /** Time to send the whole queue, in milliseconds. */
  get waitMs(): number {
    return (this.#bytes * 8_000) / this.rate
  }

  push(item: Item): void {
    this.#queue.push(item)
    this.#bytes += item.packet.length
    if (!this.#looking) this.#look()
  }

  /**
   * Pauses sending for `ms` milliseconds. Earlier packets still fill the link's queue, and sound waits behind them or
   * is lost.
   */
  rest(ms: number): void {
    this.#restUntil = performance.now() + ms
  }

  clear(): void {
    this.#queue = []
    this.#bytes = 0
  }

  #look(): void {
    const now = performance.now()
    if (now < this.#restUntil) {
      this.#looking = true
      this.#lifetime.after(this.#restUntil - now, () => this.#look())
      return
    }
    const elapsed = Math.min(atOnceMs, now - this.#lookedAt)
    this.#lookedAt = now
    this.#allowance = Math.min(0, this.#allowance) + (elapsed * this.rate) / 8_000
    let sent = 0
    for (const item of this.#queue) {
      // A packet may exceed the allowance; the next interval makes up for it.
      if (this.#allowance <= 0) break
      this.#allowance -= item.packet.length
      this.#bytes -= item.packet.length
      sent += 1
      this.#send(item)
    }
    this.#queue.splice(0, sent)
    this.#looking = this.#queue.length > 0
    if (this.#looking) this.#lifetime.after(everyMs, () => this.#look())
  }
}
