import { TrackClock } from './track-clock.ts'

/** A frame that waits for those of the other track. */
export interface Waiting<Frame> {
  frame: Frame
  /** When it came, in milliseconds of a clock that never goes back. */
  receivedAt: number
}

/** Frames of one track on the common line of time of picture and sound: milliseconds of a clock that never goes back. */
export class TimedTrack<Frame extends { ticks: number; startTicks?: number }> {
  readonly clock: TrackClock
  readonly queue: Waiting<Frame>[] = []
  /** When its last packet came; -Infinity: none did of late. */
  receivedAt = -Infinity
  #anchorTicks = 0
  #anchorAt = 0
  #isAnchored = false

  /** @param rate of its timestamps, in Hz */
  constructor(rate: number) {
    this.clock = new TrackClock(rate)
  }

  /** The first frame that waits, and the moment from which it and those decoded with it are shown. */
  get next(): (Waiting<Frame> & { at: number }) | undefined {
    const [first] = this.queue
    return first && { ...first, at: this.at(first.frame.startTicks ?? first.frame.ticks) }
  }

  /** Ties its time to the common line there. */
  anchor(ticks: number, at: number): void {
    this.#anchorTicks = ticks
    this.#anchorAt = at
    this.#isAnchored = true
  }

  /** Moment of ticks on the common line. */
  at(ticks: number): number {
    return this.#isAnchored ? this.#anchorAt + this.milliseconds(ticks - this.#anchorTicks) : this.clock.at(ticks)
  }

  milliseconds(ticks: number): number {
    return (ticks * 1_000) / this.clock.rate
  }

  push(frame: Frame, now: number): void {
    this.queue.push({ frame, receivedAt: now })
  }

  /** Forgets everything: what follows is of another time. */
  restart(): void {
    this.queue.length = 0
    this.#isAnchored = false
  }
}
