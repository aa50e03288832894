import type { Feed } from '../feeds/feed.ts'
import { sequenceDistance } from '../rtp/packet.ts'

/** Differences between the sent timestamps of a run and the timestamps of its feed. */
export interface RunTimes {
  /** Ticks added to the timestamps. */
  readonly shift: number
  /** Changed timestamps, from the feed's timestamp to the sent timestamp; undefined: none, or discarded. */
  timestamps: ReadonlyMap<number, number> | undefined
}

/** A run: packets that were sent to a viewer one after the other from one feed, or padding packets. */
export interface PacketRun extends RunTimes {
  /** Feed of the packets; undefined: padding. */
  readonly feed: Feed | undefined
  /** Number of the first packet, extended beyond 16 bits. */
  readonly first: number
  /** Offset of the viewer's numbers from the feed's. */
  readonly ahead: number
  /** Offsets of picture numbers and of base layer numbers in VP8. */
  pictures: number
  bases: number
}

/**
 * Maximum number of runs kept. Packets of older runs are not sent again. Each probe with padding adds
 * runs.
 */
const maxRuns = 256
/**
 * Maximum distance of a late packet, in sequence numbers. A larger distance is a forward jump: a feed's numbers
 * continue while the feed is not sent.
 */
const furthestBack = 4_096

const padding = { feed: undefined, ahead: 0, shift: 0, timestamps: undefined, pictures: 0, bases: 0 }

/** Maps each packet number sent to a viewer to the feed and its packet. */
export class SentVideo {
  /** Kept runs, oldest first. */
  readonly #runs: PacketRun[] = []
  #run: PacketRun | undefined
  /** Highest sent number so far, extended beyond 16 bits; -1 before the first packet. */
  #last = -1

  /**
   * Numbers since the last call of `gapShare`, and how many of them were not sent because the feed's source lost the
   * packet.
   */
  #numbers = 0
  #gaps = 0

  /** Current run; undefined before the first. */
  get run(): PacketRun | undefined {
    return this.#run
  }

  /** Ticks added to the timestamps of the current run. */
  get shift(): number {
    return this.#run?.shift ?? 0
  }

  /**
   * Begins a run: the next packet comes from this feed with this sequence number. The viewer's numbers continue
   * without a gap.
   */
  begin(feed: Feed, sequence: number, times: RunTimes = { shift: 0, timestamps: undefined }): void {
    const first = this.#last < 0 ? sequence : this.#last + 1
    this.#last = first - 1
    this.#push({ ...times, feed, first, ahead: (first - sequence) & 0xffff, pictures: 0, bases: 0 })
  }

  /** Returns the viewer's number for a packet of the current feed; -1 for a late packet from before the run. */
  number(sequence: number): number {
    const run = this.#run?.feed === undefined ? this.#goOn() : this.#run
    if (run === undefined) return -1
    const number = (sequence + run.ahead) & 0xffff
    let ahead = sequenceDistance(this.#last & 0xffff, number)
    if (ahead < -furthestBack) ahead += 0x10000
    if (this.#last + ahead < run.first) return -1
    if (ahead > 0) {
      this.#last += ahead
      this.#numbers += ahead
      this.#gaps += ahead - 1
    } else if (ahead < 0 && this.#gaps > 0) this.#gaps -= 1
    return number
  }

  /** Returns the number for a padding packet that is sent now. */
  padding(): number {
    if (this.#run?.feed !== undefined) {
      this.#push({ ...padding, first: this.#last + 1 })
    }
    this.#last += 1
    this.#numbers += 1
    return this.#last & 0xffff
  }

  /** Returns the share of numbers without a sent packet since the last call, 0 to 1. */
  gapShare(): number {
    const share = this.#numbers === 0 ? 0 : this.#gaps / this.#numbers
    this.#numbers = 0
    this.#gaps = 0
    return share
  }

  /** Returns the run of a sent number; undefined if the run is unknown or no longer kept. */
  runOf(number: number): PacketRun | undefined {
    const ahead = sequenceDistance(this.#last & 0xffff, number)
    if (ahead > 0) return undefined
    return this.#runs.findLast(({ first }) => first <= this.#last + ahead)
  }

  /** Discards changed timestamps. Their pictures are too old to be requested again. */
  forgetTimestamps(): void {
    for (const run of this.#runs) run.timestamps = undefined
  }

  /** Continues the feed's packets after padding and preserves their gaps. */
  #goOn(): PacketRun | undefined {
    const [before, padding] = this.#runs.slice(-2)
    if (before === undefined || padding === undefined) return undefined
    const first = this.#last + 1
    return this.#push({ ...before, first, ahead: (before.ahead + first - padding.first) & 0xffff })
  }

  #push(run: PacketRun): PacketRun {
    this.#run = run
    this.#runs.push(run)
    if (this.#runs.length > maxRuns) this.#runs.shift()
    return run
  }
}
