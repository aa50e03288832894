import type { ClockPoint } from '../rtp/rtcp.ts'
import type { PictureFrame, SoundFrame } from './track-format.ts'

/**
 * Deviation of a timestamp from the expected timestamp that counts as a jump, in milliseconds. The limit is above any
 * jitter.
 */
const maxOffMs = 1_000
/**
 * Maximum time for which late packets do not count as a jump, in milliseconds: a stalled connection delivers packets
 * late.
 */
const maxLagMs = 5_000
/** Length of the windows for the minimum delay, in milliseconds, and their number. */
const windowMs = 5_000
const windows = 4
/**
 * Steps of a sender's wall clock, relative to its timestamps, above which the clock counts as changed, in milliseconds.
 * A step above `sureStepMs` counts at once. A smaller step counts only if a second report confirms it. Reports of a
 * browser on a busy machine are sometimes wrong by a few hundred milliseconds.
 */
const stepMs = 100
const sureStepMs = 2_000

/** The sender's time of a timestamp. */
interface Report {
  ticks: number
  /** Milliseconds since the epoch by the sender's clock. */
  ntp: number
}

/**
 * Clock of one track. Relates timestamps to this machine's time by the fastest packets, and to the sender's time by its
 * reports. Ticks are timestamps extended beyond 32 bits; times are milliseconds of a monotonic clock.
 */
class TrackClock {
  readonly rate: number
  #last = -1
  #ticks = 0
  /** Minimum difference between arrival and media time in each window, newest last. */
  readonly #delays: number[] = []
  #windowBegan = 0
  #report: Report | undefined
  /** A report that contradicts the current one but does not replace it yet. */
  #doubted: Report | undefined
  /** Start of the period in which media is late; -1: media is not late. */
  #lagSince = -1

  /** @param rate clock rate of the timestamps, in Hz */
  constructor(rate: number) {
    this.rate = rate
  }

  /** Returns the ticks since the first packet for a timestamp near the last one. */
  ticksOf(timestamp: number): number {
    return this.#last < 0 ? 0 : this.#ticks + ((timestamp - this.#last) | 0)
  }

  /**
   * Records a packet. Returns whether its timestamp jumped, in which case all previous state is discarded.
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
    // After reordering, the packet with the later timestamp stays the last packet.
    if (ahead > 0) {
      this.#last = timestamp
      this.#ticks += ahead
    }
    this.#note(delay, now)
    return false
  }

  /** Takes a sender report. Returns whether the report shows a change of the sender's clock. */
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

  /** Discards the sender's reports after another track showed a change of the sender's clock. */
  forgetReport(): void {
    this.#report = undefined
    this.#doubted = undefined
  }

  /** Returns this machine's time of ticks. */
  at(ticks: number): number {
    return this.#milliseconds(ticks) + this.#delay
  }

  /** Returns the ticks at a time of this machine. */
  ticksAt(moment: number): number {
    return ((moment - this.#delay) * this.rate) / 1_000
  }

  /**
   * Returns the sender's time of ticks, in milliseconds since the epoch by the sender's clock; undefined without
   * reports.
   */
  senderAt(ticks: number): number | undefined {
    return this.#report && this.#report.ntp + this.#milliseconds(ticks - this.#report.ticks)
  }

  /** Returns the ticks at a time of the sender; undefined without reports. */
  ticksAtSender(ntp: number): number | undefined {
    return this.#report && this.#report.ticks + ((ntp - this.#report.ntp) * this.rate) / 1_000
  }

  get #delay(): number {
    return Math.min(...this.#delays)
  }

  #milliseconds(ticks: number): number {
    return (ticks * 1_000) / this.rate
  }

  /**
   * Returns the difference between two reports beyond the elapsed media time, in milliseconds; 0 without a previous
   * report.
   */
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

/** A frame that waits for frames of the other track. */
export interface Waiting<Frame> {
  frame: Frame
  /** Time of arrival, in milliseconds of a monotonic clock. */
  receivedAt: number
}

/** Frames of one track on the common timeline of picture and sound, in milliseconds of a monotonic clock. */
export class TimedTrack<Frame extends { ticks: number; startTicks?: number }> {
  readonly clock: TrackClock
  readonly queue: Waiting<Frame>[] = []
  /** Arrival of the last packet; -Infinity: none recently. */
  receivedAt = -Infinity
  #anchorTicks = 0
  #anchorAt = 0
  #isAnchored = false

  /** @param rate clock rate of the timestamps, in Hz */
  constructor(rate: number) {
    this.clock = new TrackClock(rate)
  }

  /** First waiting frame, with the earliest time at which it or a picture decoded after it is shown. */
  get next(): (Waiting<Frame> & { at: number }) | undefined {
    const [first] = this.queue
    return first && { ...first, at: this.at(first.frame.startTicks ?? first.frame.ticks) }
  }

  /** Anchors the track to the common timeline at this point. */
  anchor(ticks: number, at: number): void {
    this.#anchorTicks = ticks
    this.#anchorAt = at
    this.#isAnchored = true
  }

  /** Returns the time of ticks on the common timeline. */
  at(ticks: number): number {
    return this.#isAnchored ? this.#anchorAt + this.milliseconds(ticks - this.#anchorTicks) : this.clock.at(ticks)
  }

  milliseconds(ticks: number): number {
    return (ticks * 1_000) / this.clock.rate
  }

  push(frame: Frame, now: number): void {
    this.queue.push({ frame, receivedAt: now })
  }

  /** Discards queue and anchor before frames with unrelated times. */
  restart(): void {
    this.queue.length = 0
    this.#isAnchored = false
  }
}

/**
 * Finds pictures that follow a key picture in decoding order and precede it in output order (ITU-T H.265, section 3.75:
 * leading pictures). Leading pictures may depend on the previous group. A new segment of a continuing recording
 * therefore begins at the time of the first leading picture.
 */
export class LeadingPictures {
  /** Key picture that may still have leading pictures. */
  #key: PictureFrame | undefined
  /** Latest ticks so far, and latest ticks before the last picture that is not leading. */
  #latest = -Infinity
  #before = -Infinity

  /** Takes each picture in decoding order. Leading pictures directly follow their key picture. */
  note(frame: PictureFrame): void {
    const { ticks, key, leads = false } = frame
    const leader = this.#key
    if (leader !== undefined && !key && ticks < leader.ticks) {
      if (ticks > this.#before) leader.startTicks = Math.min(ticks, leader.startTicks ?? ticks)
      return
    }
    this.#key = key && leads ? frame : undefined
    this.#before = this.#latest
    this.#latest = Math.max(this.#latest, ticks)
  }

  /** Whether leading pictures of this picture may still follow. */
  mayCome(frame: PictureFrame): boolean {
    return frame === this.#key
  }

  /** Resets the state before pictures with unrelated times. */
  restart(): void {
    this.#key = undefined
    this.#latest = -Infinity
  }
}

/**
 * Difference between the alignments by reports and by arrivals above which the reports are ignored, in milliseconds.
 */
const maxReportedMs = 1_500
/** Offset between video and audio of a segment above which they are realigned, in milliseconds. */
const maxApartMs = 20

/**
 * Returns the ticks of the sound at a moment of the picture, by the sender's reports, or otherwise by the arrival of
 * packets.
 */
export function soundTicksAt(picture: TimedTrack<PictureFrame>, sound: TimedTrack<SoundFrame>, ticks: number): number {
  return reportedTicks(picture, sound, ticks) ?? sound.clock.ticksAt(picture.clock.at(ticks))
}

/**
 * Returns whether the reports show an offset between picture and sound.
 * @param pictureTicks ticks of a picture
 * @param soundTicks ticks of the sound at the same moment of the segment
 */
export function isApart(
  picture: TimedTrack<PictureFrame>,
  sound: TimedTrack<SoundFrame>,
  pictureTicks: number,
  soundTicks: number,
): boolean {
  const reported = reportedTicks(picture, sound, pictureTicks)
  return reported !== undefined && Math.abs(sound.milliseconds(reported - soundTicks)) > maxApartMs
}

function reportedTicks(
  picture: TimedTrack<PictureFrame>,
  sound: TimedTrack<SoundFrame>,
  ticks: number,
): number | undefined {
  const ntp = picture.clock.senderAt(ticks)
  const reported = ntp === undefined ? undefined : sound.clock.ticksAtSender(ntp)
  if (reported === undefined) return undefined
  const arrived = sound.clock.ticksAt(picture.clock.at(ticks))
  return Math.abs(sound.milliseconds(reported - arrived)) > maxReportedMs ? undefined : reported
}
