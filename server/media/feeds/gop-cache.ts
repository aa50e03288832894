import { type Content, keyFrame } from '../rtp/key-frame.ts'
import { sequenceDistance, sequenceOf, timestampOf } from '../rtp/packet.ts'

/** Largest GOP that is kept: a longer one makes late joiners wait for the next key frame. */
const maxPackets = 4_000
const maxBytes = 8 * 1024 * 1024

/** Packets that a camera lost within a GOP, at most, for one to be found still. */
const maxLost = 100

/** The packets since the last key frame, so that a late joiner sees a picture at once. */
export class GopCache {
  #packets: Buffer[] = []
  #bytes = 0
  #begun = false
  #timestamp = 0

  /** In order of sending; empty when there is no whole GOP. */
  get packets(): readonly Buffer[] {
    return this.#begun ? this.#packets : []
  }

  /** Like `packets`; before the first key frame, what came of the newest picture. */
  get gathered(): readonly Buffer[] {
    return this.#packets
  }

  /** Notes a packet, which nobody may change from now on. */
  add(packet: Buffer, content: Content): void {
    const timestamp = timestampOf(packet)
    if ((content & keyFrame) !== 0 && !(this.#begun && timestamp === this.#timestamp)) this.#begin(timestamp)
    if (!this.#begun) {
      // Everything of its timestamp ahead of the first key frame belongs to it: parameter sets, and parts of messages.
      if (this.#packets[0] !== undefined && timestampOf(this.#packets[0]) !== timestamp) this.clear()
    }
    this.#packets.push(packet)
    this.#bytes += packet.length
    if (this.#packets.length > maxPackets || this.#bytes > maxBytes) this.clear()
  }

  /** The packet of a number; undefined when it is not of this GOP. */
  find(sequence: number): Buffer | undefined {
    const { packets } = this
    const [first] = packets
    if (first === undefined) return undefined
    // Without a loss it is at this place; otherwise before it.
    const expected = Math.min(sequenceDistance(sequenceOf(first), sequence), packets.length - 1)
    for (let i = expected; i >= Math.max(0, expected - maxLost); i--) {
      const packet = packets[i]
      if (packet !== undefined && sequenceOf(packet) === sequence) return packet
    }
    return undefined
  }

  /** A new GOP; parameter sets of the same picture that came just before go into it. */
  #begin(timestamp: number): void {
    let start = this.#packets.length
    while (start > 0 && timestampOf(this.#packets[start - 1] ?? noPacket) === timestamp) start -= 1
    this.#packets = this.#packets.slice(start)
    this.#bytes = this.#packets.reduce((sum, { length }) => sum + length, 0)
    this.#begun = true
    this.#timestamp = timestamp
  }

  /** Forgets everything. */
  clear(): void {
    this.#packets = []
    this.#bytes = 0
    this.#begun = false
  }
}

const noPacket = Buffer.alloc(12)
