import { sequenceDistance, sequenceOf } from './packet.ts'

/** Jump of the sequence numbers above which the source counts as restarted. */
const widestGap = 1_000

interface GapOptions {
  /** Copies a packet that is held, for callers that reuse their packets; omitted: no copy. */
  keep?: (packet: Buffer) => Buffer
  /** Maximum time that packets are held, in milliseconds. */
  maxMs?: number
  /** Milliseconds of a monotonic clock. */
  now?: () => number
}

/**
 * Puts packets in order, because UDP may reorder them. Packets after a gap are held, up to a limit, until the missing
 * packets arrive.
 */
export class PacketSequence {
  readonly #maxGap: number
  readonly #next: (packet: Buffer) => void
  readonly #options: Required<GapOptions>
  readonly #waiting = new Map<number, Buffer>()
  #expected = -1
  #gapAt = 0

  /** @param maxGap maximum number of packets held behind a gap */
  constructor(maxGap: number, next: (packet: Buffer) => void, options: GapOptions = {}) {
    this.#maxGap = maxGap
    this.#next = next
    this.#options = { keep: (packet) => packet, maxMs: Infinity, now: () => performance.now(), ...options }
  }

  push(packet: Buffer): void {
    const sequence = sequenceOf(packet)
    const ahead = this.#expected < 0 ? 0 : sequenceDistance(this.#expected, sequence)
    if (Math.abs(ahead) > widestGap) this.#waiting.clear()
    else if (ahead < 0) return
    else if (ahead > 0) {
      const { keep, maxMs, now } = this.#options
      if (this.#waiting.size === 0) this.#gapAt = now()
      this.#waiting.set(sequence, keep(packet))
      if (this.#waiting.size <= this.#maxGap && (maxMs === Infinity || now() - this.#gapAt <= maxMs)) return
      return this.#giveUpGap()
    }
    this.#pass(packet, sequence)
  }

  /** Discards the held packets; the next packet is the first one. */
  restart(): void {
    this.#waiting.clear()
    this.#expected = -1
  }

  #pass(packet: Buffer, sequence: number): void {
    this.#expected = (sequence + 1) & 0xffff
    this.#next(packet)
    let waiting = this.#waiting.get(this.#expected)
    while (waiting !== undefined) {
      this.#waiting.delete(this.#expected)
      this.#expected = (this.#expected + 1) & 0xffff
      this.#next(waiting)
      waiting = this.#waiting.get(this.#expected)
    }
  }

  /** Continues with the first held packet. */
  #giveUpGap(): void {
    const distances = Array.from(this.#waiting.keys(), (sequence) => sequenceDistance(this.#expected, sequence))
    const first = (this.#expected + Math.min(...distances)) & 0xffff
    const packet = this.#waiting.get(first)
    this.#waiting.delete(first)
    // There may be another gap after this packet.
    this.#gapAt = this.#options.now()
    if (packet !== undefined) this.#pass(packet, first)
  }
}
