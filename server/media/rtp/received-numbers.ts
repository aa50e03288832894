/** So many numbers back it is remembered what came under each. */
const remembered = 4_096
/** Limit of numbers that are checked on either side of a missing one. */
const furthest = 256

/** Marks of a received number, in bits. */
const came = 1
const endsPicture = 2
const beginsPicture = 4
const padding = 8

/** Kind of an RTP packet among its neighbours. */
export interface ReceivedPacket {
  endsPicture: boolean
  beginsPicture: boolean
  padding: boolean
}

/** Kinds of a stream's last packets by number, to infer the kind of a missing one. */
export class ReceivedNumbers {
  readonly #came = new Uint8Array(remembered)

  /** Notes a packet, by its number. */
  note(sequence: number, packet: ReceivedPacket): void {
    this.#came[sequence % remembered] =
      came |
      (packet.endsPicture ? endsPicture : 0) |
      (packet.beginsPicture ? beginsPicture : 0) |
      (packet.padding ? padding : 0)
  }

  /** Nothing came under a number so far. */
  clear(sequence: number): void {
    this.#came[sequence % remembered] = 0
  }

  /** Whether a missing number lies between two whole pictures, or beside padding between them: no part of a picture that came can be missing there. */
  isBetweenPictures(sequence: number): boolean {
    const before = this.#nearest(sequence, -1)
    const after = this.#nearest(sequence, 1)
    return (before & (endsPicture | padding)) !== 0 && (after & (beginsPicture | padding)) !== 0
  }

  /** Kind of the nearest packet in one direction; 0: none within reach. */
  #nearest(sequence: number, step: 1 | -1): number {
    for (let i = 1; i <= furthest; i++) {
      const found = this.#came[(sequence + i * step) & (remembered - 1)] ?? 0
      if (found !== 0) return found
    }
    return 0
  }
}
