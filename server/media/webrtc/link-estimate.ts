import type { EventLoopDelay } from '../base/event-loop.ts'
import { sequenceDistance } from '../rtp/packet.ts'

/**
 * Length of a window in milliseconds. The shortest round trip in this window and the previous one is taken as the round
 * trip without a queue.
 */
const windowMs = 10_000

/** Length of half a `SentWindow` in milliseconds. Its counts include one to two halves. */
const halfMs = 400

/** Minimum number and share of missed packets in a run that shows a small link. */
const minLong = 16
const minShare = 0.25
/** Maximum number of packets from one miss to the next within a run. */
const endsRun = 32

/** Shares of the previous estimate and of the sent rate. An estimate below both shows a growing queue. */
const fallen = 0.97
const belowSent = 0.95
/** Minimum share and number of missed packets that show a small link. Fewer misses may be chance on a bad link. */
const muchMissed = 0.25
const minMissed = 8
/** Maximum distance, in milliseconds, of two signs with the same cause. */
const togetherMs = 1_500
/**
 * Duration, in milliseconds, after which a growing queue without loss, or loss without a queue, is a sign by itself.
 * `farBelowSent` is the share of the sent rate below which the estimate must be.
 */
const lastingMs = 1_000
const farBelowSent = 0.8
/** Maximum queueing delay, in milliseconds, of a link without a queue. */
const noQueueMs = 40
/** Weight of a new report. Reports are frequent while packets are missed. */
const smoothing = 0.3
/** Maximum age of a sign, in milliseconds. */
const oldMs = 3_000

/** Packets that were sent over a link. */
export interface LinkCounts {
  bytes: number
  packets: number
  /** Packets that the viewer requested again. */
  missed: number
}

/** Times of the signs that a link is too small. */
interface Signs {
  /** Last time the viewer's estimate fell; -Infinity: never. */
  fellAt: number
  /** Last time many packets were missed; -Infinity: never. */
  missedMuchAt: number
  /** Start of the period in which the estimate is far below the sent rate; Infinity: the estimate is higher. */
  belowSince: number
  /** Start of the period in which every report shows much loss; Infinity: the last report shows little loss. */
  lostMuchSince: number
}

const noSigns = (): Signs => ({
  fellAt: -Infinity,
  missedMuchAt: -Infinity,
  belowSince: Infinity,
  lostMuchSince: Infinity,
})

/**
 * Estimates the capacity of a viewer's link from the viewer's feedback: its bitrate estimate from growing delays
 * (REMB), and the packets that it misses. Times are milliseconds of a monotonic clock; rates are bits per second of
 * video.
 */
export class LinkEstimate {
  /** Bitrate estimated by the viewer; undefined before the viewer's first estimate. */
  bitrate: number | undefined
  /** Delay in the link's queue, from the round trips of reports. */
  readonly queue = new QueueDelay()
  /** Share of packets that the viewer loses, smoothed over its reports, 0 to 1. */
  lost = 0
  readonly #total: LinkCounts = { bytes: 0, packets: 0, missed: 0 }
  readonly #window: SentWindow
  readonly #run = new MissedRun()
  #signs = noSigns()
  /** End of the period in which feedback still describes packets sent before the last restart. */
  #deafUntil = -Infinity
  readonly #delay: Pick<EventLoopDelay, 'high'>

  /** @param delay event loop delay of this node: if it is high, viewers see delays that their links do not cause */
  constructor(now: number, delay: Pick<EventLoopDelay, 'high'>) {
    this.#window = new SentWindow(now)
    this.#delay = delay
  }

  get counts(): Readonly<LinkCounts> {
    return { ...this.#total }
  }

  sent(bytes: number): void {
    this.#total.bytes += bytes
    this.#total.packets += 1
    this.#window.sent(bytes)
  }

  rate(now: number): number {
    return this.#window.rate(now)
  }

  /** Takes the bitrate that the viewer estimates. */
  onBitrate(bitrate: number, now: number): void {
    const before = this.bitrate ?? Infinity
    this.bitrate = bitrate
    // The viewer estimates from the packets it receives. Loss alone makes the received rate lower than the sent rate.
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

  /** Takes the number of a packet that the viewer misses. A packet that was requested before does not count again. */
  onMissing(number: number, now: number): void {
    if (!this.#run.note(number)) return
    this.#total.missed += 1
    if (now < this.#deafUntil) return
    this.#window.miss(now)
    const much = this.#window.missed >= minMissed && this.#window.missedShare >= muchMissed
    if (much || this.#run.isLong) this.#signs.missedMuchAt = now
  }

  /** Takes the share of packets that the viewer lost since its last report, 0 to 1. */
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
    // A link with a large queue makes the estimate fall steadily; a link that drops the excess loses packets.
    return (fellAt - belowSince > lastingMs && this.#mayQueue) || now - lostMuchSince > lastingMs
  }

  /** Whether there was a sign of insufficient bandwidth since `since`. */
  strained(since: number): boolean {
    return this.#signs.fellAt >= since || this.#signs.missedMuchAt >= since
  }

  /**
   * Discards all signs when the sent stream changes.
   * @param deafMs time in milliseconds in which feedback still describes packets sent before the change
   */
  restart(now: number, deafMs: number): void {
    this.#deafUntil = now + deafMs
    this.#signs = noSigns()
    this.lost = 0
    this.#window.restart(now)
    this.#run.restart()
  }

  /**
   * Whether packets may wait in a queue. If only the browser is short of CPU time, its estimate falls as well, but its
   * round trips stay short.
   */
  get #mayQueue(): boolean {
    return this.queue.readings === 0 || this.queue.latest > noQueueMs
  }
}

/** Run of missed packets with few received packets in between. */
class MissedRun {
  /** Highest missed number so far; -1 before the first miss. */
  #highest = -1
  #missed = 0
  /** Count of packet numbers that the run spans. */
  #numbers = 0

  /** Counts a missed packet. Returns false if it was requested before. */
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

  /** Whether the run alone shows a small link, without waiting for the rest of the window. */
  get isLong(): boolean {
    return this.#missed >= minLong && this.#missed >= minShare * this.#numbers
  }

  /** Ends the run. Packets counted before are not counted again. */
  restart(): void {
    this.#missed = 0
    this.#numbers = 0
  }
}

/**
 * Delay in a link's queue: the excess of round trips over the shortest recent round trip. Times are milliseconds of a
 * monotonic clock.
 */
export class QueueDelay {
  #shortest = Infinity
  #shortestBefore = Infinity
  #windowAt = 0
  #last = 0
  #before = 0
  readings = 0

  /**
   * Takes one round trip.
   * @param late whether the node's event loop was slow: the round trip then only updates the shortest one and is no
   *   sign of a queue
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

  /** Delay by the shorter of the last two round trips, in milliseconds: a single round trip may be long by chance. */
  get ms(): number {
    return this.readings === 0 ? 0 : Math.min(this.#last, this.#before) - this.#base
  }

  /** Discards all round trips when the viewer moves to another network. */
  forget(): void {
    this.readings = 0
    this.#shortest = Infinity
    this.#shortestBefore = Infinity
  }

  get #base(): number {
    return Math.min(this.#shortest, this.#shortestBefore)
  }
}

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
class SentWindow {
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
