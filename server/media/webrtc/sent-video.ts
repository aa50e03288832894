import type { Feed } from '../feeds/feed.ts'
import { sequenceDistance } from '../rtp/packet.ts'

/** Packets of one feed that a viewer was sent under numbers of its own, one after the other. */
export interface Stretch {
  readonly feed: Feed
  /** Of its first packet, counted on without end. */
  readonly first: number
  /** How far the viewer's numbers are ahead of the feed's. */
  readonly ahead: number
  /** Pictures that were sent with another timestamp than the feed's, by the feed's; undefined when there are none (any more). */
  timestamps: ReadonlyMap<number, number> | undefined
}

/** Stretches that are remembered: packets of older ones are not sent again. */
const mostStretches = 32
/** A number so far back is one that the feed has jumped ahead to: it counts on while nothing is shown of it. */
const furthestBack = 4_096

/** Which packet of which feed each number is that a viewer was sent. */
export class SentVideo {
  /** The latest last. */
  readonly #stretches: Stretch[] = []
  #stretch: Stretch | undefined
  /** The highest number so far, counted on without end. */
  #last = -1

  /** From now on packets of this feed are sent, and the next has this number in it: the viewer sees no gap. */
  begin(feed: Feed, sequence: number, timestamps?: ReadonlyMap<number, number>): void {
    const first = this.#last < 0 ? sequence : this.#last + 1
    this.#last = first - 1
    this.#stretch = { feed, first, ahead: (first - sequence) & 0xffff, timestamps }
    this.#stretches.push(this.#stretch)
    if (this.#stretches.length > mostStretches) this.#stretches.shift()
  }

  /** The viewer's number of a packet of the feed that is sent now; -1 for a late one of before the stretch. */
  number(sequence: number): number {
    const stretch = this.#stretch
    if (stretch === undefined) return -1
    const number = (sequence + stretch.ahead) & 0xffff
    let ahead = sequenceDistance(this.#last & 0xffff, number)
    if (ahead < -furthestBack) ahead += 0x10000
    if (this.#last + ahead < stretch.first) return -1
    if (ahead > 0) this.#last += ahead
    return number
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
}
