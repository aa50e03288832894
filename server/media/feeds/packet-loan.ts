/** First bytes of a packet, in which a viewer writes what is its own: the header with the send time, and the identifiers of a VP8 picture behind it. */
const ownBytes = 28

/**
 * A packet of a feed while its viewers are sent it, one after the other. The bytes are shared: a viewer can reach them inside `lend` only, and has them as the feed's again
 * afterwards, whatever the viewer before wrote. Once the last viewer had its turn, nobody can reach them any more.
 */
export class PacketLoan {
  readonly #bytes: Buffer
  readonly #own: Buffer
  #over = false

  private constructor(bytes: Buffer) {
    this.#bytes = bytes
    this.#own = Buffer.from(bytes.subarray(0, ownBytes))
  }

  /** Lends a packet to all viewers that `toAll` lends it to. */
  static during(bytes: Buffer, toAll: (loan: PacketLoan) => void): void {
    const loan = new PacketLoan(bytes)
    try {
      toAll(loan)
    } finally {
      loan.#over = true
    }
  }

  /** Timestamp of the feed (RFC 3550, section 5.1). */
  get timestamp(): number {
    return this.#own.readUInt32BE(4)
  }

  /**
   * Lends the bytes to one viewer until `send` returns. It may write into the first 28 of them, and leaves the others unchanged.
   * @param argument passed to `send`, so that one function serves all packets
   * @throws Error once every viewer had its turn
   */
  lend<T>(send: (bytes: Buffer, argument: T) => void, argument: T): void {
    if (this.#over) throw new Error("the packet was sent to every viewer already: its bytes are the feed's")
    try {
      send(this.#bytes, argument)
    } finally {
      this.#bytes.set(this.#own)
    }
  }
}
