import { keyFrame, type PacketContent } from '../rtp/key-frame.ts'
import { sequenceDistance, sequenceOf, type SharedPacket, timestampOf } from '../rtp/packet.ts'

const noPackets: readonly SharedPacket[] = []

/**
 * Keeps packets of a feed for all viewers: the packets since the last key frame for new viewers, and the sent packets
 * for viewers that missed some. A viewer copies a packet before changing it.
 */
export class KeptVideo {
  readonly #gop: GopCache | undefined
  /** Sent packets; empty while there are no viewers. */
  readonly #sent = new PacketHistory()

  /** @param cached whether to keep the packets since the last key frame */
  constructor(cached: boolean) {
    this.#gop = cached ? new GopCache() : undefined
  }

  /** Whether packets are kept even without viewers. */
  get cached(): boolean {
    return this.#gop !== undefined
  }

  /** Packets since the last key frame, in order; empty if none are kept. */
  get gop(): readonly SharedPacket[] {
    return this.#gop?.packets ?? noPackets
  }

  get gathered(): readonly SharedPacket[] {
    return this.#gop?.gathered ?? noPackets
  }

  /** Keeps a packet for new viewers. The packet must not be changed afterwards. */
  add(packet: Buffer, content: PacketContent): void {
    this.#gop?.add(packet, content)
  }

  addSent(packet: Buffer): void {
    this.#sent.add(packet)
  }

  /** Finds a packet by its number in the feed. Returns undefined if the packet is too old or never arrived. */
  find(sequence: number): SharedPacket | undefined {
    // A viewer's first packets come from the GOP and may be older than the history.
    return this.#sent.find(sequence) ?? this.#gop?.find(sequence)
  }

  forgetGop(): void {
    this.#gop?.clear()
  }

  forgetSent(): void {
    this.#sent.clear()
  }
}

/** Maximum size of a kept GOP, in packets and bytes. With a larger GOP, new viewers wait for the next key frame. */
const maxGopPackets = 4_000
const maxGopBytes = 8 * 1024 * 1024

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
    if (this.#packets.length > maxGopPackets || this.#bytes > maxGopBytes) this.clear()
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

/** Maximum number of sent packets kept, and maximum of their total bytes: a few seconds of a stream. */
const maxSentPackets = 1_024
const maxSentBytes = 2 * 1024 * 1024

/** Recently sent packets of a feed, which any viewer may request again. */
class PacketHistory {
  /** Packets by sequence number, oldest first. */
  readonly #packets = new Map<number, Buffer>()
  #bytes = 0

  /** Keeps a packet, which must not be changed afterwards. */
  add(packet: Buffer): void {
    const sequence = sequenceOf(packet)
    this.#forget(sequence)
    this.#packets.set(sequence, packet)
    this.#bytes += packet.length
    while (this.#packets.size > maxSentPackets || this.#bytes > maxSentBytes) {
      const [oldest = -1] = this.#packets.keys()
      this.#forget(oldest)
    }
  }

  /** Returns the packet with a sequence number; undefined if the packet is too old or never arrived. */
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
