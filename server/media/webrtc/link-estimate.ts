import type { EventLoopDelay } from '../base/event-loop-delay.ts'
import { sequenceDistance } from '../rtp/packet.ts'
import { QueueDelay } from './queue-delay.ts'

/** Time over which is counted what was sent and what was missed: this long and up to twice as long, in milliseconds. */
const windowMs = 400
/** A bitrate that is below what is sent by so much, and below the one before, is a sign of a queue that grows. */
const fallen = 0.97
const belowSent = 0.95
/** A share that is missed by chance on a bad link does not make it a small one; packets that say anything at all. */
const muchMissed = 0.25
const minMissed = 8
/** Packets missed of one stretch: more than bad luck. So many that came between are the end of a stretch. */
const longRun = 16
const betweenRuns = 32
/** Signs that come together within so many milliseconds mean the same. */
const togetherMs = 1_500
/** A queue that grows without loss, and loss without a queue: so long, and an estimate so far below what is sent. */
const lastingMs = 1_000
const farBelowSent = 0.8
/** Round trips that are longer by no more than this, in milliseconds, are those of a link without a queue. */
const noQueueMs = 40
/** How much a new report counts: there are many while packets are missed. */
const smoothing = 0.3
/** No sign is older than so many milliseconds when the link is judged. */
const oldMs = 3_000

/** What was sent over a link. */
export interface LinkCounts {
  bytes: number
  packets: number
  /** Packets that the viewer asked for again. */
  missed: number
}

/**
 * What a viewer's link carries, by what the viewer says: the bitrate it estimates from growing delays (REMB), and what it misses. Times are milliseconds of
 * a clock that never goes back, rates bits a second of video.
 */
export class LinkEstimate {
  /** As the viewer estimates; undefined before its first word. */
  bitrate: number | undefined
  /** By what reports say of the round trip. */
  readonly queue = new QueueDelay()
  /** Share that it loses, smoothed over its reports, 0 to 1. */
  lost = 0
  #total: LinkCounts = { bytes: 0, packets: 0, missed: 0 }
  #bytes = 0
  #packets = 0
  #missed = 0
  #windowAt: number
  #before = { bytes: 0, packets: 0, missed: 0, ms: 0 }
  #highestMissed = -1
  /** What is missed with little between, and how many numbers it reaches over. */
  #run = { missed: 0, numbers: 0 }
  /** When signs were last seen; -Infinity: never. */
  #fellAt = -Infinity
  #missedMuchAt = -Infinity
  /** Since when every report tells of much loss. */
  #lostMuchSince = Infinity
  /** Since when the bitrate is far below what is sent. */
  #belowSince = Infinity
  #deafUntil = -Infinity
  readonly #delay: Pick<EventLoopDelay, 'high'>

  /** @param delay whether the node is late itself: then a viewer sees delays that are none of its link */
  constructor(now: number, delay: Pick<EventLoopDelay, 'high'>) {
    this.#windowAt = now
    this.#delay = delay
  }

  /** Of video, since the beginning. */
  get counts(): Readonly<LinkCounts> {
    return { ...this.#total }
  }

  /** A packet of video was sent. */
  sent(bytes: number): void {
    this.#total.bytes += bytes
    this.#total.packets += 1
    this.#bytes += bytes
    this.#packets += 1
  }

  /** What is sent, over the last moments. */
  rate(now: number): number {
    this.#turn(now)
    const ms = now - this.#windowAt + this.#before.ms
    return ms < windowMs / 2 ? 0 : ((this.#bytes + this.#before.bytes) * 8_000) / ms
  }

  /** The viewer estimates so much. */
  heardBitrate(bitrate: number, now: number): void {
    const before = this.bitrate ?? Infinity
    this.bitrate = bitrate
    // An estimate from delays is of what arrives: loss alone makes it smaller than what is sent.
    const arriving = this.rate(now) * (1 - this.#missedShare)
    if (bitrate < before * fallen && bitrate < arriving * belowSent && now >= this.#deafUntil) this.#fellAt = now
    if (bitrate >= arriving * farBelowSent || now < this.#deafUntil || this.#delay.high) this.#belowSince = Infinity
    else this.#belowSince = Math.min(this.#belowSince, now)
  }

  /** A round trip was measured, in milliseconds. */
  heardRoundTrip(roundTrip: number, now: number): void {
    this.queue.heard(roundTrip, now, this.#delay.high)
  }

  /** The viewer misses a packet, by its number; those that it asked for before do not count again. */
  heardMissing(number: number, now: number): void {
    if (this.#highestMissed >= 0 && sequenceDistance(this.#highestMissed, number) <= 0) return
    this.#noteRun(number)
    this.#highestMissed = number
    this.#total.missed += 1
    if (now < this.#deafUntil) return
    this.#turn(now)
    this.#missed += 1
    const much = this.#missed + this.#before.missed >= minMissed && this.#missedShare >= muchMissed
    if (much || this.#isLongRun) this.#missedMuchAt = now
  }

  /** The viewer lost such a share since its last report, 0 to 1. */
  heardLost(lost: number, now: number): void {
    this.lost += (lost - this.lost) * smoothing
    if (now < this.#deafUntil) return
    this.#lostMuchSince = lost > muchMissed ? Math.min(this.#lostMuchSince, now) : Infinity
  }

  /** Whether more is sent than the link carries. */
  tooSmall(now: number): boolean {
    const both = Math.abs(this.#fellAt - this.#missedMuchAt) < togetherMs
    if (both && now - Math.max(this.#fellAt, this.#missedMuchAt) < oldMs) return true
    // One that keeps what it cannot carry: the estimate goes on falling. And one that drops it at once.
    return (this.#fellAt - this.#belowSince > lastingMs && this.#mayQueue) || now - this.#lostMuchSince > lastingMs
  }

  /** A viewer's browser that is short of processor sees delays, too, and its estimate falls; what is kept in a queue makes the round trip longer. */
  get #mayQueue(): boolean {
    return this.queue.readings === 0 || this.queue.latest > noQueueMs
  }

  /** Whether there was any sign of that since. */
  strained(since: number): boolean {
    return this.#fellAt >= since || this.#missedMuchAt >= since
  }

  /** Something else is sent from now on: what is said of the past counts no more, and what comes in the next moments is of the past. */
  restart(now: number, deafMs: number): void {
    this.#deafUntil = now + deafMs
    this.#fellAt = -Infinity
    this.#missedMuchAt = -Infinity
    this.#belowSince = Infinity
    this.#lostMuchSince = Infinity
    this.lost = 0
    this.#before = { bytes: 0, packets: 0, missed: 0, ms: 0 }
    this.#bytes = 0
    this.#packets = 0
    this.#missed = 0
    this.#run = { missed: 0, numbers: 0 }
    this.#windowAt = now
  }

  /** What is missed now and then begins a new run each time. */
  #noteRun(number: number): void {
    const ahead = this.#highestMissed < 0 ? Infinity : sequenceDistance(this.#highestMissed, number)
    if (ahead > betweenRuns) this.#run = { missed: 0, numbers: 0 }
    this.#run.missed += 1
    this.#run.numbers += ahead > betweenRuns ? 1 : ahead
  }

  /** So much of a stretch is missed that the rest of the last moments need not be waited for. */
  get #isLongRun(): boolean {
    const { missed, numbers } = this.#run
    return missed >= longRun && missed >= muchMissed * numbers
  }

  /** Of what was sent in the last moments, 0 to 1. */
  get #missedShare(): number {
    const packets = this.#packets + this.#before.packets
    return packets === 0 ? 0 : Math.min(1, (this.#missed + this.#before.missed) / packets)
  }

  #turn(now: number): void {
    const ms = now - this.#windowAt
    if (ms < windowMs) return
    this.#before = { bytes: this.#bytes, packets: this.#packets, missed: this.#missed, ms }
    this.#bytes = 0
    this.#packets = 0
    this.#missed = 0
    this.#windowAt = now
  }
}
