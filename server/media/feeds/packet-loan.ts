/**
 * Number of leading bytes that a viewer may overwrite: the header with the send time, and the identifiers of a VP8
 * picture.
 */
const ownBytes = 28

/**
 * Lends a packet of a feed to its viewers, one after the other. The viewers share the bytes and may access them inside
 * `lend` only. Each viewer gets the original bytes, regardless of the previous viewer's changes. After the last viewer,
 * access throws.
 */
export class PacketLoan {
  readonly #bytes: Buffer
  readonly #own: Buffer
  #over = false

  private constructor(bytes: Buffer) {
    this.#bytes = bytes
    this.#own = Buffer.from(bytes.subarray(0, ownBytes))
  }

  /** Lends a packet to all viewers for which `toAll` calls `lend`. */
  static during(bytes: Buffer, toAll: (loan: PacketLoan) => void): void {
    const loan = new PacketLoan(bytes)
    try {
      toAll(loan)
    } finally {
      loan.#over = true
    }
  }

  /** Timestamp in the feed (RFC 3550, section 5.1). */
  get timestamp(): number {
    return this.#own.readUInt32BE(4)
  }

  /**
   * Lends the bytes to one viewer until `send` returns. `send` may write into the first 28 bytes and must leave the
   * other bytes unchanged.
   * @param argument passed to `send`, so that one function serves all packets
   * @throws Error after `during` has returned
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
