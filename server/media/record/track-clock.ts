import type { ClockPoint } from '../rtp/rtcp.ts'

/** Distance from what is expected after which a timestamp is of another time, in milliseconds: more than any jitter, less than anybody overlooks. */
const maxOffMs = 1_000
/** Time that a track may lag behind without being of another time, in milliseconds: a stalled connection delivers late what was not lost. */
const maxLagMs = 5_000
/** Length of the windows whose smallest delay counts, in milliseconds, and their number. */
const windowMs = 5_000
const windows = 4
/**
 * Step of a sender's wall clock against its timestamps that counts as set by somebody, in milliseconds: a larger one at once, a smaller one once a second report says
 * the same. The reports of a browser on a busy machine are off by some hundred milliseconds now and then.
 */
const stepMs = 100
const sureStepMs = 2_000

/** Moment of the sender that belongs to a timestamp. */
interface Report {
  ticks: number
  /** Milliseconds since the epoch by the sender's clock. */
  ntp: number
}

/**
 * Clock of one track: which moment of this machine each timestamp is, by the packets that came fastest, and which moment of the sender, by its reports.
 * Timestamps are 32-bit ticks without wrapping; moments are milliseconds of a clock that never goes back.
 */
export class TrackClock {
  readonly rate: number
  #last = -1
  #ticks = 0
  /** Smallest difference between arrival and media time in each window, the newest last. */
  readonly #delays: number[] = []
  #windowBegan = 0
  #report: Report | undefined
  /** A report that does not agree with the one in force, nor yet replaces it. */
  #doubted: Report | undefined
  /** Moment since which media comes later than it should without having caught up. */
  #lagSince = -1

  /** @param rate of the timestamps, in Hz */
  constructor(rate: number) {
    this.rate = rate
  }

  /** Ticks since the first packet, of a timestamp near the last one. */
  ticksOf(timestamp: number): number {
    return this.#last < 0 ? 0 : this.#ticks + ((timestamp - this.#last) | 0)
  }

  /**
   * A packet came. Returns whether its timestamp is of another time than those before: everything before is forgotten then.
   * @param now milliseconds
   */
  received(timestamp: number, now: number): boolean {
    if (this.#last < 0) {
      this.#restart(timestamp, now)
      return false
    }
    const ahead = (timestamp - this.#last) | 0
    const delay = now - this.#milliseconds(this.#ticks + ahead)
    const off = delay - this.#delay
    const jumped =
      off < -maxOffMs ||
      ahead < -maxOffMs * (this.rate / 1_000) ||
      (off > maxOffMs && this.#lags(now)) ||
      off > 3_600_000
    if (jumped) {
      this.#restart(timestamp, now)
      return true
    }
    if (off <= maxOffMs) this.#lagSince = -1
    // The later of two packets that overtook each other stays the last one.
    if (ahead > 0) {
      this.#last = timestamp
      this.#ticks += ahead
    }
    this.#note(delay, now)
    return false
  }

  /** A sender report came. Returns whether it shows that the sender's clock was set. */
  reported({ timestamp, ntp }: ClockPoint): boolean {
    if (this.#last < 0) return false
    const report = { ticks: this.ticksOf(timestamp), ntp }
    const step = this.#step(this.#report, report)
    const isSet =
      step > sureStepMs || (step > stepMs && this.#doubted !== undefined && this.#step(this.#doubted, report) <= stepMs)
    if (step > stepMs && !isSet) this.#doubted = report
    else {
      this.#report = report
      this.#doubted = undefined
    }
    return isSet
  }

  /** Forgets what the sender reported: another track of it shows that its clock was set. */
  forgetReport(): void {
    this.#report = undefined
    this.#doubted = undefined
  }

  /** Moment of this machine. */
  at(ticks: number): number {
    return this.#milliseconds(ticks) + this.#delay
  }

  /** Ticks at a moment of this machine. */
  ticksAt(moment: number): number {
    return ((moment - this.#delay) * this.rate) / 1_000
  }

  /** Moment of the sender, in milliseconds since the epoch by its clock; undefined when it reports none. */
  senderAt(ticks: number): number | undefined {
    return this.#report && this.#report.ntp + this.#milliseconds(ticks - this.#report.ticks)
  }

  /** Ticks at a moment of the sender; undefined when it reports none. */
  ticksAtSender(ntp: number): number | undefined {
    return this.#report && this.#report.ticks + ((ntp - this.#report.ntp) * this.rate) / 1_000
  }

  get #delay(): number {
    return Math.min(...this.#delays)
  }

  #milliseconds(ticks: number): number {
    return (ticks * 1_000) / this.rate
  }

  /** Distance between two reports beyond the time that passed by the timestamps, in milliseconds; 0: there is none before. */
  #step(before: Report | undefined, { ticks, ntp }: Report): number {
    return before === undefined ? 0 : Math.abs(ntp - before.ntp - this.#milliseconds(ticks - before.ticks))
  }

  #lags(now: number): boolean {
    if (this.#lagSince < 0) this.#lagSince = now
    return now - this.#lagSince > maxLagMs
  }

  #note(delay: number, now: number): void {
    if (now - this.#windowBegan > windowMs) {
      this.#windowBegan = now
      this.#delays.push(delay)
      if (this.#delays.length > windows) this.#delays.shift()
    } else {
      const last = this.#delays.length - 1
      if (delay < (this.#delays[last] ?? Infinity)) this.#delays[last] = delay
    }
  }

  #restart(timestamp: number, now: number): void {
    this.#last = timestamp
    this.#ticks = 0
    this.forgetReport()
    this.#lagSince = -1
    this.#windowBegan = now
    this.#delays.length = 0
    this.#delays.push(now)
  }
}
