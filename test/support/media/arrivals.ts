/** RTP of one track. */
export class Arrivals {
  /** Packets received including duplicates, and packets sent since the first one. */
  received = 0
  sent = 0
  #highest = -1
  #lastAt = -1
  /** Longest time between two packets since `forgetGaps`, in milliseconds. */
  maxGap = 0

  forgetGaps(): void {
    this.maxGap = 0
    this.#lastAt = -1
  }

  note(message: Buffer): void {
    // Skips RTCP, which shares the port (RFC 5761, section 4).
    if ((message[1] ?? 0) >= 192 && (message[1] ?? 0) <= 223) return
    const ahead = this.#highest < 0 ? 1 : ((message.readUInt16BE(2) - this.#highest) << 16) >> 16
    this.received += 1
    const now = performance.now()
    if (this.#lastAt >= 0) this.maxGap = Math.max(this.maxGap, now - this.#lastAt)
    this.#lastAt = now
    if (ahead <= 0) return
    this.sent += ahead
    this.#highest = message.readUInt16BE(2)
  }
}
