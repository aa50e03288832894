import type { ClockPoint } from '../rtp/rtcp.ts'

/** Clock of one sender according to its reports, shared by all streams of the sender. */
export class SenderClock {
  /** Offset of the sender's clock from the node's clock in milliseconds; undefined before the first report. */
  ahead: number | undefined
}

/**
 * Relates the timestamps of one RTP stream to time (RFC 3550, section 6.4.1). Times are milliseconds since the epoch.
 */
export class StreamClock {
  readonly #rate: number
  readonly #sender: SenderClock
  #last: { timestamp: number; at: number } | undefined
  #report: ClockPoint | undefined

  /** @param rate clock rate of the timestamps, in Hz */
  constructor(rate: number, sender: SenderClock) {
    this.#rate = rate
    this.#sender = sender
  }

  /** Records a packet that arrived at `now`. */
  received(timestamp: number, now: number): void {
    if (this.#last === undefined) this.#last = { timestamp, at: now }
    else {
      this.#last.timestamp = timestamp
      this.#last.at = now
    }
  }

  /** Takes a sender report that arrived at `now`. */
  reported(point: ClockPoint, now: number): void {
    this.#report = point
    this.#sender.ahead = point.ntp - now
  }

  /**
   * Returns the moment `now` on the sender's clock and in timestamps of the stream; undefined before the first packet.
   */
  at(now: number): { ntp: number; timestamp: number } | undefined {
    if (this.#last === undefined) return undefined
    const ntp = now + (this.#sender.ahead ?? 0)
    return { ntp, timestamp: this.#report === undefined ? this.#arrived(now) : this.#reportedAt(this.#report, ntp) }
  }

  /**
   * Returns the number of ticks from this stream's timestamps to another stream's timestamps of the same moment. Uses
   * the reports if both streams have the same sender, otherwise the arrival times of packets.
   */
  ticksTo(other: StreamClock, now: number): number {
    const own = this.#report
    const others = other.#report
    if (this.#sender !== other.#sender || own === undefined || others === undefined) {
      return (other.#arrived(now) - this.#arrived(now)) | 0
    }
    return (other.#reportedAt(others, own.ntp) - own.timestamp) | 0
  }

  #arrived(now: number): number {
    return this.#last === undefined ? 0 : this.#ticks(this.#last.timestamp, now - this.#last.at)
  }

  #reportedAt({ timestamp, ntp }: ClockPoint, at: number): number {
    return this.#ticks(timestamp, at - ntp)
  }

  #ticks(timestamp: number, later: number): number {
    return (timestamp + Math.round((later * this.#rate) / 1_000)) >>> 0
  }
}
