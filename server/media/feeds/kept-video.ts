import type { Content } from '../rtp/key-frame.ts'
import { GopCache } from './gop-cache.ts'
import { type SharedPacket, sequenceOf } from '../rtp/packet.ts'

/** Packets that are kept, and their bytes: some seconds of a stream. */
const maxPackets = 1_024
const maxBytes = 2 * 1024 * 1024

const noPackets: readonly SharedPacket[] = []

/** Packets that a feed keeps once for all viewers, who read them and write into copies: those since the last key frame, for late joiners, and those sent, for viewers that missed some. */
export class KeptVideo {
  readonly #gop: GopCache | undefined
  /** Empty while nobody watches. */
  readonly #sent = new PacketHistory()

  /** @param cached keep the packets since the last key frame */
  constructor(cached: boolean) {
    this.#gop = cached ? new GopCache() : undefined
  }

  /** Whether packets are kept that nobody watches. */
  get cached(): boolean {
    return this.#gop !== undefined
  }

  /** The packets since the last key frame, in order; empty when none are kept. */
  get gop(): readonly SharedPacket[] {
    return this.#gop?.packets ?? noPackets
  }

  /** See GopCache. */
  get gathered(): readonly SharedPacket[] {
    return this.#gop?.gathered ?? noPackets
  }

  /** Keeps a packet for late joiners: nobody may change it from now on. */
  add(packet: Buffer, content: Content): void {
    this.#gop?.add(packet, content)
  }

  /** Keeps a packet that was sent. */
  addSent(packet: Buffer): void {
    this.#sent.add(packet)
  }

  /** Finds a packet by its number in the feed; undefined when it is too old, or never came. */
  find(sequence: number): SharedPacket | undefined {
    // A viewer's first packets are of the GOP, and may be older than the history.
    return this.#sent.find(sequence) ?? this.#gop?.find(sequence)
  }

  forgetGop(): void {
    this.#gop?.clear()
  }

  forgetSent(): void {
    this.#sent.clear()
  }
}

/** The last packets of a feed, kept once for everybody who may ask for one again. */
class PacketHistory {
  /** Packets by sequence number, the oldest first. */
  readonly #packets = new Map<number, Buffer>()
  #bytes = 0

  /** Keeps a packet. It must not be changed afterwards. */
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
