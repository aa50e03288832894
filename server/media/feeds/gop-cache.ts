import { type PacketContent, keyFrame } from '../rtp/key-frame.ts'
import { sequenceDistance, sequenceOf, timestampOf } from '../rtp/packet.ts'

/** Maximum size of a kept GOP, in packets and bytes. With a larger GOP, new viewers wait for the next key frame. */
const maxPackets = 4_000
const maxBytes = 8 * 1024 * 1024

/** Maximum number of lost packets within a GOP for which `find` still works. */
const maxLost = 100

/** Keeps the packets since the last key frame, so that a new viewer gets a picture at once. */
export class GopCache {
  #packets: Buffer[] = []
  #bytes = 0
  #begun = false
  #timestamp = 0

  /** Packets in order of sending; empty if there is no whole GOP. */
  get packets(): readonly Buffer[] {
    return this.#begun ? this.#packets : []
  }

  /** Same as `packets`; before the first key frame, the packets of the newest picture. */
  get gathered(): readonly Buffer[] {
    return this.#packets
  }

  /** Adds a packet, which must not be changed afterwards. */
  add(packet: Buffer, content: PacketContent): void {
    const timestamp = timestampOf(packet)
    if ((content & keyFrame) !== 0 && !(this.#begun && timestamp === this.#timestamp)) this.#begin(timestamp)
    if (!this.#begun) {
      // Earlier packets with the timestamp of the first key frame belong to it: parameter sets, and parts of messages.
      if (this.#packets[0] !== undefined && timestampOf(this.#packets[0]) !== timestamp) this.clear()
    }
    this.#packets.push(packet)
    this.#bytes += packet.length
    if (this.#packets.length > maxPackets || this.#bytes > maxBytes) this.clear()
  }

  /** Returns the packet with a sequence number; undefined if the packet is not in this GOP. */
  find(sequence: number): Buffer | undefined {
    const { packets } = this
    const [first] = packets
    if (first === undefined) return undefined
    // Without losses, the packet is at this index, otherwise at a lower index.
    const expected = Math.min(sequenceDistance(sequenceOf(first), sequence), packets.length - 1)
    for (let i = expected; i >= Math.max(0, expected - maxLost); i--) {
      const packet = packets[i]
      if (packet !== undefined && sequenceOf(packet) === sequence) return packet
    }
    return undefined
  }

  /** Begins a new GOP, including parameter sets of the same picture that arrived just before. */
  #begin(timestamp: number): void {
    let start = this.#packets.length
    while (start > 0 && timestampOf(this.#packets[start - 1] ?? noPacket) === timestamp) start -= 1
    this.#packets = this.#packets.slice(start)
    this.#bytes = this.#packets.reduce((sum, { length }) => sum + length, 0)
    this.#begun = true
    this.#timestamp = timestamp
  }

  clear(): void {
    this.#packets = []
    this.#bytes = 0
    this.#begun = false
  }
}

const noPacket = Buffer.alloc(12)
