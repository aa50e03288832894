import { seededRandom } from '../../../shared/seeded-random.ts'

/** Bytes of IP and UDP headers, which count towards each datagram. */
const headerBytes = 28

/** Conditions of a link in one direction; each may change while packets are in flight. */
export interface LinkConditions {
  /** Share of packets lost, 0 to 1. */
  loss: number
  /** Rate in kbit/s, headers of IP and UDP included; Infinity: no limit. */
  kbps: number
  /** Maximum time in the queue of a limited rate, in milliseconds: further packets are dropped. */
  queueMs: number
  /** Delay in milliseconds. */
  delayMs: number
  /** Maximum additional delay in milliseconds, random for each packet. The order stays. */
  jitterMs: number
}

/** Traffic of a link. */
export interface LinkCounts {
  /** Packets that entered the link. */
  offered: number
  offeredBytes: number
  passed: number
  passedBytes: number
  /** Packets dropped by chance, or because the queue was full. */
  dropped: number
}

interface Waiting {
  at: number
  deliver: () => void
}

/** One direction of a link, with a queue that all its traffic shares. Random numbers are the same in each run. */
export class Link implements LinkConditions {
  loss = 0
  kbps = Infinity
  queueMs = 300
  delayMs = 0
  jitterMs = 0
  readonly counts: LinkCounts = { offered: 0, offeredBytes: 0, passed: 0, passedBytes: 0, dropped: 0 }
  readonly #random: () => number
  readonly #clock: () => number
  /** Time at which the link has sent its queue. */
  #busyUntil = 0
  #lastAt = 0
  readonly #waiting: Waiting[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(seed: number, clock: () => number = () => performance.now()) {
    this.#random = seededRandom(seed)
    this.#clock = clock
  }

  /** Sends a packet of this size: calls `deliver` on arrival, at once without limits, never after a loss. */
  carry(bytes: number, deliver: () => void): void {
    this.counts.offered += 1
    this.counts.offeredBytes += bytes
    const at = this.#arrival(bytes)
    if (at === undefined) {
      this.counts.dropped += 1
      return
    }
    this.counts.passed += 1
    this.counts.passedBytes += bytes
    this.#lastAt = at
    if (at <= this.#clock() && this.#waiting.length === 0) return deliver()
    this.#waiting.push({ at, deliver })
    this.#timer ??= this.#wake()
  }

  /** Drops the packets in flight. */
  close(): void {
    clearTimeout(this.#timer)
    this.#waiting.length = 0
  }

  /** Computes the arrival time; undefined: lost. */
  #arrival(bytes: number): number | undefined {
    if (this.#random() < this.loss) return undefined
    const now = this.#clock()
    let sent = now
    if (this.kbps !== Infinity) {
      const begins = Math.max(now, this.#busyUntil)
      if (begins - now > this.queueMs) return undefined
      sent = begins + ((bytes + headerBytes) * 8) / this.kbps
      this.#busyUntil = sent
    }
    return Math.max(this.#lastAt, sent + this.delayMs + this.#random() * this.jitterMs)
  }

  #wake(): NodeJS.Timeout | undefined {
    const [next] = this.#waiting
    return next === undefined ? undefined : setTimeout(() => this.#deliver(), Math.max(0, next.at - this.#clock()))
  }

  #deliver(): void {
    const now = this.#clock()
    const later = this.#waiting.findIndex(({ at }) => at > now)
    const due = this.#waiting.splice(0, later < 0 ? this.#waiting.length : later)
    this.#timer = this.#wake()
    for (const { deliver } of due) deliver()
  }
}
