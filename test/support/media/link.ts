import { seededRandom } from '../seeded-random.ts'

/** Bytes of IP and UDP ahead of each datagram: a link carries them too. */
const headerBytes = 28

/** What a link is like in one direction; each may be changed while packets are on their way. */
export interface LinkConditions {
  /** Share that is lost, 0 to 1. */
  loss: number
  /** Kilobits a second, headers of IP and UDP included; Infinity for no limit. */
  kbps: number
  /** How long a packet waits at most for its turn where the rate is limited, in milliseconds: what finds the queue longer is lost. */
  queueMs: number
  /** Milliseconds on the way. */
  delayMs: number
  /** Up to so many milliseconds more, another number for each packet. The order stays. */
  jitterMs: number
}

/** What went into a link. */
export interface LinkCounts {
  /** What was to be carried. */
  offered: number
  offeredBytes: number
  passed: number
  passedBytes: number
  /** By chance, or because the queue was full. */
  dropped: number
}

interface Waiting {
  at: number
  deliver: () => void
}

/** One direction of a link, with a queue that everybody on it shares. Chance is the same in each run. */
export class Link implements LinkConditions {
  loss = 0
  kbps = Infinity
  queueMs = 300
  delayMs = 0
  jitterMs = 0
  readonly counts: LinkCounts = { offered: 0, offeredBytes: 0, passed: 0, passedBytes: 0, dropped: 0 }
  readonly #random: () => number
  readonly #clock: () => number
  /** When the link has sent what it took. */
  #busyUntil = 0
  #lastAt = 0
  readonly #waiting: Waiting[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(seed: number, clock: () => number = () => performance.now()) {
    this.#random = seededRandom(seed)
    this.#clock = clock
  }

  /** Carries a packet of so many bytes: `deliver` is called when it has arrived, at once where nothing holds it up, and never when it is lost. */
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

  /** What is on its way does not arrive. */
  close(): void {
    clearTimeout(this.#timer)
    this.#waiting.length = 0
  }

  /** When it arrives; undefined when it is lost. */
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
