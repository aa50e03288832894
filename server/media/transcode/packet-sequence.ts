import { sequenceDistance, sequenceOf } from '../rtp/packet.ts'

/** Jump of the numbers after which a source counts as restarted. */
const widestGap = 1_000

/** Brings packets into order: over UDP they overtake each other. Those of a gap are waited for while few others come. */
export class PacketSequence {
  readonly #longest: number
  readonly #next: (packet: Buffer) => void
  readonly #waiting = new Map<number, Buffer>()
  readonly #keep: (packet: Buffer) => Buffer
  #expected = -1

  /**
   * @param longest packets that wait behind a gap at most
   * @param keep copies a packet that has to wait, where it stays the caller's
   */
  constructor(longest: number, next: (packet: Buffer) => void, keep = (packet: Buffer): Buffer => packet) {
    this.#longest = longest
    this.#next = next
    this.#keep = keep
  }

  push(packet: Buffer): void {
    const sequence = sequenceOf(packet)
    const ahead = this.#expected < 0 ? 0 : sequenceDistance(this.#expected, sequence)
    if (Math.abs(ahead) > widestGap) this.#waiting.clear()
    else if (ahead < 0) return
    else if (ahead > 0) {
      this.#waiting.set(sequence, this.#keep(packet))
      if (this.#waiting.size <= this.#longest) return
      return this.#giveUpGap()
    }
    this.#pass(packet, sequence)
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
    if (packet !== undefined) this.#pass(packet, first)
  }
}
