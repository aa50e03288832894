import { sequenceOf } from '../rtp/packet.ts'

/** Packets that are kept, and their bytes: some seconds of a stream. */
const maxPackets = 1_024
const maxBytes = 2 * 1024 * 1024

/** The last packets of a feed, kept once for everybody who may ask for one again. */
export class PacketHistory {
  /** Packets by sequence number, the oldest first. */
  readonly #packets = new Map<number, Buffer>()
  #bytes = 0

  /** Keeps a packet: nobody may change it from now on. */
  add(packet: Buffer): void {
    const sequence = sequenceOf(packet)
    this.#forget(sequence)
    this.#packets.set(sequence, packet)
    this.#bytes += packet.length
    while (this.#packets.size > maxPackets || this.#bytes > maxBytes) {
      const [oldest = -1] = this.#packets.keys()
      this.#forget(oldest)
    }
  }

  /** The packet of a number; undefined when it is too old, or never came. */
  find(sequence: number): Buffer | undefined {
    return this.#packets.get(sequence)
  }

  clear(): void {
    this.#packets.clear()
    this.#bytes = 0
  }

  #forget(sequence: number): void {
    this.#bytes -= this.#packets.get(sequence)?.length ?? 0
    this.#packets.delete(sequence)
  }
}
