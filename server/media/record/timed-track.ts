import { TrackClock } from './track-clock.ts'

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
