import { dropped } from '../base/traffic.ts'
import { Slices } from '../base/event-loop.ts'

/** Number of sinks below which a packet is sent at once, because queuing the packet would take as long. */
const crowd = 16
/** Work queues of all feeds of the process. */
const slices = new Slices()
const reportEveryMs = 1_000

/** Receiver of a feed's packets. Each packet is lent until the method returns. */
export interface Sink {
  /** @param sequence number of the packet in the feed's own numbering */
  video(packet: PacketLoan, sequence: number): void
  audio(packet: PacketLoan): void
  /** Called once a second to send a sender report. @param now milliseconds since the epoch */
  report(now: number): void
  ended(): void
  /**
   * Called when another method threw an unexpected error. The sink is removed from the feed; the other sinks continue.
   */
  failed(error: unknown): void
}

/** All sinks of one feed. A sink that throws is removed without affecting the others. */
export class FanOut {
  readonly #sinks = new Set<Sink>()
  readonly #queue = slices.queue()
  readonly #emptied: () => void
  readonly #overflowed: () => void
  #timer: NodeJS.Timeout | undefined
  /** Error of queued work, thrown at the next packet. */
  #failure: { error: unknown } | undefined

  /** Number of packets dropped because the queue was full. */
  dropped = 0
  #overflows = false

  /**
   * @param emptied called when the last sink was removed
   * @param overflowed called when packets are dropped, once until the queue accepts packets again; pictures cannot be
   *   decoded until the next key frame
   */
  constructor(emptied: () => void, overflowed: () => void) {
    this.#emptied = emptied
    this.#overflowed = overflowed
  }

  get size(): number {
    return this.#sinks.size
  }

  add(sink: Sink): void {
    this.#sinks.add(sink)
    this.#timer ??= setInterval(() => this.#report(), reportEveryMs).unref()
  }

  remove(sink: Sink): void {
    if (this.#sinks.delete(sink) && this.#sinks.size === 0) this.#empty()
  }

  /**
   * Processes a packet of the source: at once for few sinks, queued in time slices of the event loop for many.
   * @throws the error of `work`; if the work was queued, at the next packet
   */
  run(packet: Buffer, work: (packet: Buffer) => void): void {
    if (this.#failure !== undefined) throw this.#failure.error
    if (this.#sinks.size < crowd && this.#queue.idle) return work(packet)
    const isQueued = this.#queue.run(() => {
      try {
        work(packet)
      } catch (error) {
        this.#failure ??= { error }
      }
    })
    if (isQueued) this.#overflows = false
    else this.#countDropped()
  }

  /** Runs work after the queued packets, or at once if the queue is empty or full. */
  inOrder(work: () => void): void {
    if (this.#queue.idle || !this.#queue.run(work)) work()
  }

  #countDropped(): void {
    this.dropped += 1
    dropped.viewers += 1
    if (this.#overflows) return
    this.#overflows = true
    this.#overflowed()
  }

  /** @param sequence number of the packet in the feed's own numbering */
  video(packet: Buffer, sequence: number): void {
    PacketLoan.during(packet, (loan) => {
      for (const sink of this.#sinks) {
        try {
          sink.video(loan, sequence)
        } catch (error) {
          this.#removeFailed(sink, error)
        }
      }
    })
  }

  audio(packet: Buffer): void {
    PacketLoan.during(packet, (loan) => {
      for (const sink of this.#sinks) {
        try {
          sink.audio(loan)
        } catch (error) {
          this.#removeFailed(sink, error)
        }
      }
    })
  }

  /** Ends the feed for every sink. */
  end(): void {
    const sinks = [...this.#sinks]
    this.#sinks.clear()
    this.#empty()
    for (const sink of sinks) this.#notify(sink, () => sink.ended())
  }

  #report(): void {
    const now = Date.now()
    for (const sink of this.#sinks) this.#notify(sink, () => sink.report(now))
  }

  #notify(sink: Sink, run: () => void): void {
    try {
      run()
    } catch (error) {
      this.#removeFailed(sink, error)
    }
  }

  #removeFailed(sink: Sink, error: unknown): void {
    this.remove(sink)
    sink.failed(error)
  }

  #empty(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#emptied()
  }
}

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
