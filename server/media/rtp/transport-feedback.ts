import { sequenceDistance } from './packet.ts'
import { own, transportFeedbackType } from './rtcp.ts'

/**
 * URI of the header extension for transport-wide congestion control
 * (draft-holmer-rmcat-transport-wide-cc-extensions-01). A sender numbers all packets of its transport. From their
 * arrival times it estimates the capacity of its uplink.
 */
export const transportSequenceUri = 'http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01'

const feedbackFormat = 15
/** Size before the chunks in bytes, including the common header. */
const headBytes = 20
/** Units of arrival times and of the reference time (section 3.1), in milliseconds. */
const tickMs = 0.25
const referenceTicks = 64 / tickMs
const maxDelta = 0x7fff
const shortestDelta = -0x8000
/** Maximum number of arrivals and of sequence numbers in one feedback packet, so that it fits one datagram. */
const maxArrivals = 128
const maxStatuses = 4_096
/** Maximum gap in sequence numbers that counts as packet loss. A larger gap is a restart of the sender. */
const widestGap = 1_000

/** Status symbols of a packet (section 3.1.1). */
const missing = 0
const smallDelta = 1
const largeDelta = 2
/** Maximum run length of one status in a chunk, and number of symbols in chunks of one and two bits per symbol. */
const maxRun = 0x1fff
const oneBitSymbols = 14
const twoBitSymbols = 7

interface Arrival {
  /** Transport-wide sequence number, extended beyond 16 bits. */
  number: number
  /** Time of arrival, in milliseconds of a monotonic clock. */
  at: number
}

/** Collects the arrival times of a transport's packets, and builds the reports for the sender. */
export class TransportFeedback {
  #arrivals: Arrival[] = []
  /** Highest number so far, and first number not reported yet; -1 before the first packet. */
  #highest = -1
  #next = -1
  #count = 0

  /** Whether a report is due because of the number of arrivals. */
  get full(): boolean {
    return this.#arrivals.length >= maxArrivals
  }

  /** Whether there are unreported arrivals. */
  get pending(): boolean {
    return this.#arrivals.length > 0
  }

  /**
   * Records the arrival of a packet.
   * @param sequence its transport-wide number, 16 bits
   * @param at milliseconds of a monotonic clock
   */
  arrived(sequence: number, at: number): void {
    const ahead = this.#highest < 0 ? Infinity : sequenceDistance(this.#highest & 0xffff, sequence)
    if (Math.abs(ahead) > widestGap) {
      this.#arrivals = []
      // Starts in the second cycle, so that late packets with lower numbers stay positive.
      this.#highest = sequence + 0x10000
      this.#next = this.#highest
    } else if (ahead > 0) this.#highest += ahead
    this.#arrivals.push({
      number: Math.abs(ahead) > widestGap ? this.#highest : this.#highest + Math.min(0, ahead),
      at,
    })
  }

  /**
   * Returns the arrivals since the last report, and the numbers missing among them, as RTCP packets.
   * @param ssrc SSRC of one of the sender's streams
   */
  take(ssrc: number): Buffer[] {
    const arrivals = this.#arrivals.toSorted((a, b) => a.number - b.number)
    this.#arrivals = []
    const packets: Buffer[] = []
    // Late packets were already reported as missing, so each run of late packets gets a separate RTCP packet.
    for (let from = 0; from < arrivals.length; ) {
      const first = arrivals[from]
      if (first === undefined) break
      const base = first.number < this.#next ? first.number : this.#next
      const piece = pieceOf(arrivals, from, base, this.#next)
      packets.push(this.#write(ssrc, base, piece.sent))
      from = piece.end
      const last = piece.sent.at(-1)
      if (last !== undefined) this.#next = Math.max(this.#next, last.number + 1)
    }
    return packets
  }

  #write(ssrc: number, base: number, sent: readonly Arrival[]): Buffer {
    const reference = Math.floor(ticksOf(sent[0]) / referenceTicks)
    const statuses = new Uint8Array((sent.at(-1)?.number ?? base) - base + 1)
    const deltas: number[] = []
    let before = reference * referenceTicks
    for (const arrival of sent) {
      const delta = ticksOf(arrival) - before
      before += delta
      deltas.push(delta)
      statuses[arrival.number - base] = isSmall(delta) ? smallDelta : largeDelta
    }
    const chunks = chunksOf(statuses)
    const deltaBytes = deltas.reduce((sum, delta) => sum + (isSmall(delta) ? 1 : 2), 0)
    const used = headBytes + chunks.length * 2 + deltaBytes
    const padding = -used & 3
    const packet = Buffer.alloc(used + padding)
    packet[0] = 0x80 | (padding > 0 ? 0x20 : 0) | feedbackFormat
    packet[1] = transportFeedbackType
    packet.writeUInt16BE(packet.length / 4 - 1, 2)
    packet.writeUInt32BE(own, 4)
    packet.writeUInt32BE(ssrc, 8)
    packet.writeUInt16BE(base & 0xffff, 12)
    packet.writeUInt16BE(statuses.length, 14)
    packet.writeUIntBE(reference & 0xffffff, 16, 3)
    packet[19] = this.#count
    this.#count = (this.#count + 1) & 0xff
    let at = headBytes
    for (const chunk of chunks) at = packet.writeUInt16BE(chunk, at)
    for (const delta of deltas) at = isSmall(delta) ? packet.writeUInt8(delta, at) : packet.writeInt16BE(delta, at)
    // The last byte of padding is its length (RFC 3550, section 6.4.1).
    if (padding > 0) packet[packet.length - 1] = padding
    return packet
  }
}

function ticksOf(arrival: Arrival | undefined): number {
  return Math.round((arrival?.at ?? 0) / tickMs)
}

function isSmall(delta: number): boolean {
  return delta >= 0 && delta <= 0xff
}

/** Returns the arrivals from `from` on that fit one packet, each number once, and the index after them. */
function pieceOf(
  arrivals: readonly Arrival[],
  from: number,
  base: number,
  next: number,
): { sent: Arrival[]; end: number } {
  const sent: Arrival[] = []
  let end = from
  for (; end < arrivals.length; end++) {
    const arrival = arrivals[end]
    const before = sent.at(-1)
    if (arrival === undefined) break
    if (arrival.number === before?.number) continue
    if (sent.length === maxArrivals || arrival.number - base >= maxStatuses) break
    if (before !== undefined) {
      if (base < next && arrival.number !== before.number + 1) break
      const delta = ticksOf(arrival) - ticksOf(before)
      if (delta > maxDelta || delta < shortestDelta) break
    }
    sent.push(arrival)
  }
  return { sent, end }
}

/** Encodes the statuses as two-byte chunks (sections 3.1.3 and 3.1.4). */
function chunksOf(statuses: Uint8Array): number[] {
  const chunks: number[] = []
  for (let at = 0; at < statuses.length; ) {
    const status = statuses[at] ?? missing
    let run = 1
    while (run < maxRun && statuses[at + run] === status) run += 1
    const oneBit = !statuses.subarray(at, at + oneBitSymbols).includes(largeDelta)
    const symbols = oneBit ? oneBitSymbols : twoBitSymbols
    if (run >= symbols || run === statuses.length - at) {
      chunks.push((status << 13) | run)
      at += run
      continue
    }
    const bits = oneBit ? 1 : 2
    let chunk = 0
    for (let i = 0; i < symbols; i++) chunk = (chunk << bits) | (statuses[at + i] ?? missing)
    chunks.push((oneBit ? 0x8000 : 0xc000) | chunk)
    at += symbols
  }
  return chunks
}
