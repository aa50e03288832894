import type { Feed } from '../feeds/feed.ts'
import { sequenceDistance } from '../rtp/packet.ts'

/** How the pictures of a stretch differ from those of its feed. */
export interface StretchTimes {
  /** Ticks that are added to the timestamps. */
  readonly shift: number
  /** Pictures that were sent with another timestamp than the feed's, by the feed's; undefined when there are none (any more). */
  timestamps: ReadonlyMap<number, number> | undefined
}

/** Packets that a viewer was sent under numbers of its own, one after the other: of one feed, or padding. */
export interface Stretch extends StretchTimes {
  /** undefined: they are padding. */
  readonly feed: Feed | undefined
  /** Number of its first packet, counted on without end. */
  readonly first: number
  /** How far the viewer's numbers are ahead of the feed's. */
  readonly ahead: number
  /** Offset of picture numbers, and of those of the base layer, in VP8. */
  pictures: number
  bases: number
}

/** Stretches that are remembered: packets of older ones are not sent again. Padding makes many of them. */
const maxStretches = 256
/** A number so far back is one that the feed has jumped ahead to: it counts on while nothing is shown of it. */
const furthestBack = 4_096

const padding = { feed: undefined, ahead: 0, shift: 0, timestamps: undefined, pictures: 0, bases: 0 }

/** Which packet of which feed each number is that a viewer was sent. */
export class SentVideo {
  /** The latest last. */
  readonly #stretches: Stretch[] = []
  #stretch: Stretch | undefined
  /** The highest number so far, counted on without end. */
  #last = -1

  /** Numbers since the last question, and those of them under which nothing was sent, because the feed's source lost it. */
  #numbers = 0
  #gaps = 0

  /** Stretch that is sent now; undefined before the first. */
  get stretch(): Stretch | undefined {
    return this.#stretch
  }

  /** Ticks that are added to the timestamps of what is sent now. */
  get shift(): number {
    return this.#stretch?.shift ?? 0
  }

  /** From now on packets of this feed are sent, and the next has this number in it: the viewer sees no gap. */
  begin(feed: Feed, sequence: number, times: StretchTimes = { shift: 0, timestamps: undefined }): void {
    const first = this.#last < 0 ? sequence : this.#last + 1
    this.#last = first - 1
    this.#push({ ...times, feed, first, ahead: (first - sequence) & 0xffff, pictures: 0, bases: 0 })
  }

  /** The viewer's number of a packet of the feed that is sent now; -1 for a late one of before the stretch. */
  number(sequence: number): number {
    const stretch = this.#stretch?.feed === undefined ? this.#goOn() : this.#stretch
    if (stretch === undefined) return -1
    const number = (sequence + stretch.ahead) & 0xffff
    let ahead = sequenceDistance(this.#last & 0xffff, number)
    if (ahead < -furthestBack) ahead += 0x10000
    if (this.#last + ahead < stretch.first) return -1
    if (ahead > 0) {
      this.#last += ahead
      this.#numbers += ahead
      this.#gaps += ahead - 1
    } else if (ahead < 0 && this.#gaps > 0) this.#gaps -= 1
    return number
  }

  /** The number of a packet of padding that is sent now. */
  padding(): number {
    if (this.#stretch?.feed !== undefined) {
      this.#push({ ...padding, first: this.#last + 1 })
    }
    this.#last += 1
    this.#numbers += 1
    return this.#last & 0xffff
  }

  /** Share of numbers since the last call under which nothing was sent, 0 to 1. */
  gapShare(): number {
    const share = this.#numbers === 0 ? 0 : this.#gaps / this.#numbers
    this.#numbers = 0
    this.#gaps = 0
    return share
  }

  /** The stretch of a number that was sent; undefined when it is of none that is remembered. */
  stretchOf(number: number): Stretch | undefined {
    const ahead = sequenceDistance(this.#last & 0xffff, number)
    if (ahead > 0) return undefined
    return this.#stretches.findLast(({ first }) => first <= this.#last + ahead)
  }

  /** Pictures with timestamps of their own are too old to be asked for again. */
  forgetTimestamps(): void {
    for (const stretch of this.#stretches) stretch.timestamps = undefined
  }

  /** The feed's packets after padding: its gaps stay. */
  #goOn(): Stretch | undefined {
    const [before, padding] = this.#stretches.slice(-2)
    if (before === undefined || padding === undefined) return undefined
    const first = this.#last + 1
    return this.#push({ ...before, first, ahead: (before.ahead + first - padding.first) & 0xffff })
  }

  #push(stretch: Stretch): Stretch {
    this.#stretch = stretch
    this.#stretches.push(stretch)
    if (this.#stretches.length > maxStretches) this.#stretches.shift()
    return stretch
  }
}
