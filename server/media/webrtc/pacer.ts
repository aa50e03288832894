import type { SharedPacket } from '../rtp/packet.ts'
import type { Lifetime } from '../base/lifetime.ts'

/** Milliseconds from one look at the queue to the next. */
const everyMs = 10
/** Burst that is allowed after a pause, in milliseconds of the rate. */
const atOnceMs = 60

/** Something that waits to be sent. */
export interface Paced {
  packet: SharedPacket
}

/** Sends no faster than a rate, for a link whose queue a whole picture would overflow. */
export class Pacer<Item extends Paced> {
  readonly #lifetime: Lifetime
  readonly #send: (item: Item) => void
  #queue: Item[] = []
  #bytes = 0
  #allowance = 0
  #lookedAt = 0
  #looking = false
  #restUntil = -Infinity
  /** Bits a second. */
  rate: number

  constructor(lifetime: Lifetime, rate: number, send: (item: Item) => void) {
    this.#lifetime = lifetime
    this.#send = send
    this.rate = rate
  }

  get empty(): boolean {
    return this.#queue.length === 0
  }

  /** How long what waits will take, in milliseconds. */
  get waitMs(): number {
    return (this.#bytes * 8_000) / this.rate
  }

  push(item: Item): void {
    this.#queue.push(item)
    this.#bytes += item.packet.length
    if (!this.#looking) this.#look()
  }

  /** Sends nothing for so many milliseconds: what was sent before fills the link's queue, and sound waits behind it or is lost. */
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
      // The next wait makes up for an excess.
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
