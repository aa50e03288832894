import { sequenceDistance, sequenceOf } from '../rtp/packet.ts'

/** Jump of the numbers after which a source counts as restarted. */
const widestGap = 1_000

/** How packets wait for those of a gap. */
interface GapOptions {
  /** Copies a packet that has to wait, where it stays the caller's. */
  keep?: (packet: Buffer) => Buffer
  /** Longest wait, in milliseconds. */
  maxMs?: number
  /** Milliseconds of a clock that never goes back. */
  now?: () => number
}

/** Brings packets into order: over UDP they overtake each other. Those of a gap are waited for while few others come. */
export class PacketSequence {
  readonly #longest: number
  readonly #next: (packet: Buffer) => void
  readonly #options: Required<GapOptions>
  readonly #waiting = new Map<number, Buffer>()
  #expected = -1
  #gapAt = 0

  /** @param longest packets that wait behind a gap at most */
  constructor(longest: number, next: (packet: Buffer) => void, options: GapOptions = {}) {
    this.#longest = longest
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
      if (this.#waiting.size <= this.#longest && (maxMs === Infinity || now() - this.#gapAt <= maxMs)) return
      return this.#giveUpGap()
    }
    this.#pass(packet, sequence)
  }

  /** Forgets what waits: the next packet is the first one. */
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

  /** On from the first one that came. */
  #giveUpGap(): void {
    const distances = Array.from(this.#waiting.keys(), (sequence) => sequenceDistance(this.#expected, sequence))
    const first = (this.#expected + Math.min(...distances)) & 0xffff
    const packet = this.#waiting.get(first)
    this.#waiting.delete(first)
    // There may be another gap behind it.
    this.#gapAt = this.#options.now()
    if (packet !== undefined) this.#pass(packet, first)
  }
}
