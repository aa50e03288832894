/** RTP of one track. */
export class Arrivals {
  /** Packets received including duplicates, and packets sent since the first one. */
  received = 0
  sent = 0
  #highest = -1

  note(message: Buffer): void {
    // Skips RTCP, which shares the port (RFC 5761, section 4).
    if ((message[1] ?? 0) >= 192 && (message[1] ?? 0) <= 223) return
    const ahead = this.#highest < 0 ? 1 : ((message.readUInt16BE(2) - this.#highest) << 16) >> 16
    this.received += 1
    if (ahead <= 0) return
    this.sent += ahead
    this.#highest = message.readUInt16BE(2)
  }
}
