import type { EventLoopDelay } from '../base/event-loop-delay.ts'
import { SentWindow } from './sent-window.ts'
import { sequenceDistance } from '../rtp/packet.ts'

/** Length of a window in milliseconds: the shortest round trip of this one and the one before is that of the link without a queue. */
const windowMs = 10_000

/** Packets missed of one stretch that are more than bad luck, and the share of the stretch that they must be. */
const minLong = 16
const minShare = 0.25
/** Packets between two misses that end a run. */
const endsRun = 32

/** Parts of the estimate before, and of what is sent, below which an estimate shows a growing queue. */
const fallen = 0.97
const belowSent = 0.95
/** Share and number of missed packets that show a small link: fewer are missed by chance on a bad one. */
const muchMissed = 0.25
const minMissed = 8
/** Signs within so many milliseconds mean the same. */
const togetherMs = 1_500
/** Duration, in milliseconds, after which a growing queue without loss, or loss without a queue, is a sign by itself; and how far the estimate is below what is sent then. */
const lastingMs = 1_000
const farBelowSent = 0.8
/** Queueing delay of a link without a queue, at most, in milliseconds. */
const noQueueMs = 40
/** Weight of a new report: there are many while packets are missed. */
const smoothing = 0.3
/** Age of the oldest sign that counts, in milliseconds. */
const oldMs = 3_000

/** Packets that were sent over a link. */
export interface LinkCounts {
  bytes: number
  packets: number
  /** Packets that the viewer requested again. */
  missed: number
}

/** Signs of a link that is too small, by when they were seen. */
interface Signs {
  /** Last time that the viewer's estimate fell; -Infinity: never. */
  fellAt: number
  /** Last time that much was missed; -Infinity: never. */
  missedMuchAt: number
  /** Beginning of the time in which the estimate is far below what is sent; Infinity: it is not. */
  belowSince: number
  /** Beginning of the time in which every report shows much loss; Infinity: none does. */
  lostMuchSince: number
}

const noSigns = (): Signs => ({
  fellAt: -Infinity,
  missedMuchAt: -Infinity,
  belowSince: Infinity,
  lostMuchSince: Infinity,
})

/**
 * Capacity of a viewer's link, by the viewer's feedback: the bitrate that it estimates from growing delays (REMB), and the packets that it misses. Times are
 * milliseconds of a clock that never goes back, rates bits a second of video.
 */
export class LinkEstimate {
  /** Estimate of the viewer; undefined before its first report. */
  bitrate: number | undefined
  /** Delay in the link's queue, by the round trips of reports. */
  readonly queue = new QueueDelay()
  /** Share that the viewer loses, smoothed over its reports, 0 to 1. */
  lost = 0
  readonly #total: LinkCounts = { bytes: 0, packets: 0, missed: 0 }
  readonly #window: SentWindow
  readonly #run = new MissedRun()
  #signs = noSigns()
  /** End of the time in which feedback is still of what was sent before. */
  #deafUntil = -Infinity
  readonly #delay: Pick<EventLoopDelay, 'high'>

  /** @param delay of the node itself: while it is high, viewers see delays that are not of their links */
  constructor(now: number, delay: Pick<EventLoopDelay, 'high'>) {
    this.#window = new SentWindow(now)
    this.#delay = delay
  }

  /** Video since the beginning. */
  get counts(): Readonly<LinkCounts> {
    return { ...this.#total }
  }

  /** Counts a packet of video that was sent. */
  sent(bytes: number): void {
    this.#total.bytes += bytes
    this.#total.packets += 1
    this.#window.sent(bytes)
  }

  /** Rate of the last moments. */
  rate(now: number): number {
    return this.#window.rate(now)
  }

  /** Takes the bitrate that the viewer estimates. */
  onBitrate(bitrate: number, now: number): void {
    const before = this.bitrate ?? Infinity
    this.bitrate = bitrate
    // An estimate from delays is of what arrives: loss alone makes it smaller than what is sent.
    const arriving = this.rate(now) * (1 - this.#window.missedShare)
    const isDeaf = now < this.#deafUntil
    const signs = this.#signs
    if (bitrate < before * fallen && bitrate < arriving * belowSent && !isDeaf) signs.fellAt = now
    if (bitrate >= arriving * farBelowSent || isDeaf || this.#delay.high) signs.belowSince = Infinity
    else signs.belowSince = Math.min(signs.belowSince, now)
  }

  /** Takes a round trip, in milliseconds. */
  onRoundTrip(roundTrip: number, now: number): void {
    this.queue.onRoundTrip(roundTrip, now, this.#delay.high)
  }

  /** Takes the number of a packet that the viewer misses; one that it requested before does not count again. */
  onMissing(number: number, now: number): void {
    if (!this.#run.note(number)) return
    this.#total.missed += 1
    if (now < this.#deafUntil) return
    this.#window.miss(now)
    const much = this.#window.missed >= minMissed && this.#window.missedShare >= muchMissed
    if (much || this.#run.isLong) this.#signs.missedMuchAt = now
  }

  /** Takes the share that the viewer lost since its last report, 0 to 1. */
  onLoss(lost: number, now: number): void {
    this.lost += (lost - this.lost) * smoothing
    if (now < this.#deafUntil) return
    this.#signs.lostMuchSince = lost > muchMissed ? Math.min(this.#signs.lostMuchSince, now) : Infinity
  }

  /** Whether more is sent than the link carries. */
  tooSmall(now: number): boolean {
    const { fellAt, missedMuchAt, belowSince, lostMuchSince } = this.#signs
    const both = Math.abs(fellAt - missedMuchAt) < togetherMs
    if (both && now - Math.max(fellAt, missedMuchAt) < oldMs) return true
    // A link that keeps what it cannot carry makes the estimate fall on and on; one that drops it loses packets.
    return (fellAt - belowSince > lastingMs && this.#mayQueue) || now - lostMuchSince > lastingMs
  }

  /** Whether any sign of that was seen since. */
  strained(since: number): boolean {
    return this.#signs.fellAt >= since || this.#signs.missedMuchAt >= since
  }

  /** Forgets the past when something else is sent from now on. @param deafMs feedback of the next milliseconds is still of the past */
  restart(now: number, deafMs: number): void {
    this.#deafUntil = now + deafMs
    this.#signs = noSigns()
    this.lost = 0
    this.#window.restart(now)
    this.#run.restart()
  }

  /** Whether packets may wait in a queue. A browser that is short of processor sees delays, too, and its estimate falls, but round trips stay short. */
  get #mayQueue(): boolean {
    return this.queue.readings === 0 || this.queue.latest > noQueueMs
  }
}

/** Packets that a viewer misses with little between them. */
class MissedRun {
  /** Highest number so far; -1 before the first. */
  #highest = -1
  #missed = 0
  /** Numbers that the run reaches over. */
  #numbers = 0

  /** Notes a missed packet by its number. Returns false for one that was requested before. */
  note(number: number): boolean {
    const ahead = this.#highest < 0 ? Infinity : sequenceDistance(this.#highest, number)
    if (ahead <= 0) return false
    const begins = ahead > endsRun
    if (begins) this.restart()
    this.#missed += 1
    this.#numbers += begins ? 1 : ahead
    this.#highest = number
    return true
  }

  /** Whether so much of a stretch is missed that the rest of the last moments need not be waited for. */
  get isLong(): boolean {
    return this.#missed >= minLong && this.#missed >= minShare * this.#numbers
  }

  /** Ends the run; numbers that were missed before still do not count again. */
  restart(): void {
    this.#missed = 0
    this.#numbers = 0
  }
}

/** Delay of packets in a link's queue, by how much longer round trips are than the shortest of late. Times are milliseconds of a clock that never goes back. */
export class QueueDelay {
  #shortest = Infinity
  #shortestBefore = Infinity
  #windowAt = 0
  #last = 0
  #before = 0
  /** Number of round trips so far. */
  readings = 0

  /**
   * Takes a round trip, each once.
   * @param late the program was late itself: the round trip bounds the shortest one only, and is no sign of a queue
   */
  onRoundTrip(roundTrip: number, now: number, late = false): void {
    if (now - this.#windowAt > windowMs) {
      this.#shortestBefore = this.#shortest
      this.#shortest = Infinity
      this.#windowAt = now
    }
    this.#shortest = Math.min(this.#shortest, roundTrip)
    if (late) return
    this.#before = this.readings === 0 ? roundTrip : this.#last
    this.#last = roundTrip
    this.readings += 1
  }

  /** Delay by the last round trip, in milliseconds; 0 before the first. */
  get latest(): number {
    return this.readings === 0 ? 0 : this.#last - this.#base
  }

  /** Delay by the last two, in milliseconds: one alone may have been late by chance. */
  get ms(): number {
    return this.readings === 0 ? 0 : Math.min(this.#last, this.#before) - this.#base
  }

  /** Forgets all round trips when the viewer moves to another network. */
  forget(): void {
    this.readings = 0
    this.#shortest = Infinity
    this.#shortestBefore = Infinity
  }

  get #base(): number {
    return Math.min(this.#shortest, this.#shortestBefore)
  }
}
