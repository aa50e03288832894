import { timestampOf, type SharedPacket } from '../rtp/packet.ts'

/** Timestamp ticks between the pictures of the burst: the browser shows the last one at once. */
const ticks = 90

/**
 * The pictures since the last key frame for somebody who joins late, in slices while the GOP goes on growing. Timestamps are squeezed together so that
 * they end at the live one; what comes meanwhile keeps its own.
 */
export class GopBurst {
  #gop: readonly SharedPacket[]
  #next = 0
  /** First pictures of the GOP that are squeezed, and the last one's timestamp. */
  readonly #live: number
  readonly #pictures: number
  #picture = -1
  #previous = -1
  /** Pictures whose timestamp was changed: the feed's, and the one they were sent with. */
  readonly timestamps = new Map<number, number>()

  /** @param gop the feed's own, which grows; not empty */
  constructor(gop: readonly SharedPacket[]) {
    this.#gop = gop
    this.#live = timestampOf(gop[gop.length - 1] ?? empty)
    this.#pictures = new Set(gop.map(timestampOf)).size
  }

  /** A burst that is over, for its timestamps. */
  static whole(gop: readonly SharedPacket[]): GopBurst {
    const burst = new GopBurst(gop)
    burst.take(gop, gop.length)
    return burst
  }

  /** Timestamp of its first picture. */
  get begins(): number {
    return (this.#live - (this.#pictures - 1) * ticks) >>> 0
  }

  /**
   * Copies of the next packets, in order.
   * @param gop the feed's at this moment: another one has begun when it is not the same any more
   * @returns fewer than `most` when it has caught up with the feed; undefined when the feed keeps no GOP any more
   */
  take(gop: readonly SharedPacket[], most: number): Buffer[] | undefined {
    if (gop !== this.#gop) {
      if (gop.length === 0) return undefined
      this.#gop = gop
      this.#next = 0
      this.#picture = this.#pictures
    }
    const slice = gop.slice(this.#next, this.#next + most)
    this.#next += slice.length
    return slice.map((packet) => this.#squeezed(packet))
  }

  #squeezed(packet: SharedPacket): Buffer {
    const copy = Buffer.from(packet)
    const timestamp = timestampOf(packet)
    if (timestamp !== this.#previous) this.#picture += 1
    this.#previous = timestamp
    const behind = this.#pictures - 1 - this.#picture
    if (behind > 0) {
      const squeezed = (this.#live - behind * ticks) >>> 0
      this.timestamps.set(timestamp, squeezed)
      copy.writeUInt32BE(squeezed, 4)
    }
    return copy
  }
}

const empty = Buffer.alloc(12)
