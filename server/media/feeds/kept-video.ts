import type { PacketContent } from '../rtp/key-frame.ts'
import { GopCache } from './gop-cache.ts'
import { type SharedPacket, sequenceOf } from '../rtp/packet.ts'

/** Maximum number of packets kept, and maximum of their total bytes: a few seconds of a stream. */
const maxPackets = 1_024
const maxBytes = 2 * 1024 * 1024

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
    while (this.#packets.size > maxPackets || this.#bytes > maxBytes) {
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
