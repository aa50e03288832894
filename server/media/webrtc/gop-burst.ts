import { timestampOf, type SharedPacket } from '../rtp/packet.ts'

/** Timestamp ticks between pictures of the burst, so few that the browser shows the last picture at once. */
const ticks = 90

/**
 * Supplies the pictures since the last key frame to a new viewer, in slices, while the GOP keeps growing. The
 * timestamps of these pictures are squeezed together and end at the live timestamp. Pictures that arrive during the
 * burst keep their timestamps.
 */
export class GopBurst {
  #gop: readonly SharedPacket[]
  #next = 0
  /** Timestamp of the last picture of the GOP at the start, and number of pictures to squeeze. */
  readonly #live: number
  readonly #pictures: number
  #picture = -1
  #previous = -1
  /** Changed timestamps: from the feed's timestamp to the sent timestamp. */
  readonly timestamps = new Map<number, number>()

  /** @param gop the feed's live array, which keeps growing; not empty */
  constructor(gop: readonly SharedPacket[]) {
    this.#gop = gop
    this.#live = timestampOf(gop[gop.length - 1] ?? empty)
    this.#pictures = new Set(gop.map(timestampOf)).size
  }

  /** Returns a burst whose packets are already taken. The caller uses its timestamps only. */
  static whole(gop: readonly SharedPacket[]): GopBurst {
    const burst = new GopBurst(gop)
    burst.take(gop, gop.length)
    return burst
  }

  /** Timestamp of the first picture of the burst. */
  get begins(): number {
    return (this.#live - (this.#pictures - 1) * ticks) >>> 0
  }

  /**
   * Returns copies of the next packets, in order.
   * @param gop the feed's current array; a different array from the last call means that a new GOP has begun
   * @returns fewer packets than `max` if the burst has caught up with the feed; undefined if the feed no longer keeps a
   *   GOP
   */
  take(gop: readonly SharedPacket[], max: number): Buffer[] | undefined {
    if (gop !== this.#gop) {
      if (gop.length === 0) return undefined
      this.#gop = gop
      this.#next = 0
      this.#picture = this.#pictures
    }
    const slice = gop.slice(this.#next, this.#next + max)
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
