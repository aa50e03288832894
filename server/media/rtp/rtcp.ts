/** RTCP packets that the node builds and parses itself (RFC 3550, RFC 4585, draft-alvestrand-rmcat-remb). */

export const senderReportType = 200
export const receiverReportType = 201
const goodbyeType = 203
export const transportFeedbackType = 205
const payloadFeedbackType = 206
const extendedReportType = 207

/** SSRC of the node in its reports. */
export const own = 1

/**
 * Calls `visit` for each packet of a compound with its type, its count or format, and its offset and length. Stops at a
 * broken length.
 */
export function eachReport(
  compound: Buffer,
  visit: (type: number, format: number, offset: number, length: number) => void,
): void {
  let at = 0
  while (at + 4 <= compound.length) {
    const length = (compound.readUInt16BE(at + 2) + 1) * 4
    if (at + length > compound.length) return
    visit(compound[at + 1] ?? 0, (compound[at] ?? 0) & 0x1f, at, length)
    at += length
  }
}

/** Whether a compound announces the end of a source (BYE: RFC 3550, section 6.6). */
export function saysGoodbye(compound: Buffer): boolean {
  let isThere = false
  eachReport(compound, (type, sources) => {
    isThere ||= type === goodbyeType && sources > 0
  })
  return isThere
}

/** Builds a Picture Loss Indication. */
export function pictureLoss(ssrc: number): Buffer {
  const packet = Buffer.alloc(12)
  packet.set([0x81, payloadFeedbackType, 0, 2])
  packet.writeUInt32BE(own, 4)
  packet.writeUInt32BE(ssrc, 8)
  return packet
}

/** Builds a generic NACK for ascending sequence numbers. */
export function negativeAcknowledgement(ssrc: number, sequences: readonly number[]): Buffer {
  const items: { first: number; mask: number }[] = []
  for (const sequence of sequences) {
    const last = items.at(-1)
    const ahead = last === undefined ? 0 : (sequence - last.first) & 0xffff
    if (last !== undefined && ahead >= 1 && ahead <= 16) last.mask |= 1 << (ahead - 1)
    else items.push({ first: sequence, mask: 0 })
  }
  const packet = Buffer.alloc(12 + 4 * items.length)
  packet.set([0x81, transportFeedbackType])
  packet.writeUInt16BE(2 + items.length, 2)
  packet.writeUInt32BE(own, 4)
  packet.writeUInt32BE(ssrc, 8)
  for (const [index, { first, mask }] of items.entries()) {
    packet.writeUInt16BE(first, 12 + 4 * index)
    packet.writeUInt16BE(mask, 14 + 4 * index)
  }
  return packet
}

/** Builds a Receiver Estimated Maximum Bitrate message, in bits per second. */
export function estimatedBitrate(ssrc: number, bitsPerSecond: number): Buffer {
  let exponent = 0
  let mantissa = Math.floor(bitsPerSecond)
  while (mantissa >= 1 << 18) {
    mantissa >>>= 1
    exponent += 1
  }
  const packet = Buffer.alloc(24)
  packet.set([0x8f, payloadFeedbackType, 0, 5])
  packet.writeUInt32BE(own, 4)
  packet.write('REMB', 12, 'latin1')
  packet[16] = 1
  packet[17] = (exponent << 2) | (mantissa >> 16)
  packet.writeUInt16BE(mantissa & 0xffff, 18)
  packet.writeUInt32BE(ssrc, 20)
  return packet
}

/**
 * Block types of an extended report (RFC 3611, sections 4.4 and 4.5), and the sizes of these blocks with their headers.
 */
const referenceTimeBlock = 4
const referenceAnswerBlock = 5
const blockHeaderBytes = 4
const referenceTimeBytes = 12
const referenceAnswerBytes = 16

/** Calls `visit` for each receiver reference time of an extended report, with the middle 32 bits of its NTP time. */
function eachReferenceTime(
  compound: Buffer,
  at: number,
  length: number,
  visit: (ssrc: number, middle: number) => void,
): void {
  const end = at + length
  let block = at + 8
  while (block + blockHeaderBytes <= end) {
    const bytes = blockHeaderBytes + compound.readUInt16BE(block + 2) * 4
    if (block + bytes > end) return
    if (compound[block] === referenceTimeBlock && bytes === referenceTimeBytes) {
      visit(compound.readUInt32BE(at + 4), compound.readUInt32BE(block + 6))
    }
    block += bytes
  }
}

/**
 * Builds a sender's answer to a receiver's reference time that has just arrived. From this answer, the receiver
 * computes the round trip (RFC 3611, section 4.5).
 */
export function referenceTimeAnswer(sender: number, receiver: number, middle: number): Buffer {
  const packet = Buffer.alloc(8 + referenceAnswerBytes)
  packet.set([0x80, extendedReportType, 0, 5])
  packet.writeUInt32BE(sender, 4)
  packet.set([referenceAnswerBlock, 0, 0, 3], 8)
  packet.writeUInt32BE(receiver, 12)
  packet.writeUInt32BE(middle, 16)
  return packet
}

/** Report block on one received stream, as sent (RFC 3550, section 6.4.1). */
export interface ReceptionBlock {
  ssrc: number
  /** Share of packets lost since the last report, in 1/256. */
  fractionLost: number
  /** Number of packets lost since the beginning. */
  lost: number
  /** Highest sequence number including its cycles. */
  highest: number
  /** Interarrival jitter in timestamp units. */
  jitter: number
  /** Middle 32 bits of the last sender report's NTP time; 0: no report arrived. */
  lastReport: number
  /** Time since the arrival of the last sender report, in 1/65536 s. */
  delay: number
}

/** Builds a receiver report with one block. */
export function receiverReport(block: ReceptionBlock): Buffer {
  const packet = Buffer.alloc(32)
  packet.set([0x81, receiverReportType, 0, 7])
  packet.writeUInt32BE(own, 4)
  packet.writeUInt32BE(block.ssrc, 8)
  packet.writeUInt32BE((((block.fractionLost & 0xff) << 24) | (Math.min(block.lost, 0x7fffff) & 0xffffff)) >>> 0, 12)
  packet.writeUInt32BE(block.highest >>> 0, 16)
  packet.writeUInt32BE(block.jitter >>> 0, 20)
  packet.writeUInt32BE(block.lastReport >>> 0, 24)
  packet.writeUInt32BE(block.delay >>> 0, 28)
  return packet
}

/** Builds a sender report without blocks. `ntp` is in milliseconds since the epoch. */
export function senderReport(ssrc: number, ntp: number, timestamp: number, packets: number, octets: number): Buffer {
  const packet = Buffer.alloc(28)
  packet.set([0x80, senderReportType, 0, 6])
  packet.writeUInt32BE(ssrc, 4)
  const seconds = Math.floor(ntp / 1000)
  packet.writeUInt32BE((seconds + secondsTo1970) >>> 0, 8)
  packet.writeUInt32BE(Math.floor(((ntp - seconds * 1000) / 1000) * 2 ** 32) >>> 0, 12)
  packet.writeUInt32BE(timestamp >>> 0, 16)
  packet.writeUInt32BE(packets >>> 0, 20)
  packet.writeUInt32BE(octets >>> 0, 24)
  return packet
}

const descriptionType = 202

/** Builds a source description with a CNAME of at most 255 bytes of ASCII (RFC 3550, section 6.5). */
export function sourceDescription(ssrc: number, name: string): Buffer {
  // The item list ends with at least one zero byte.
  const words = Math.ceil((6 + name.length + 1) / 4)
  const packet = Buffer.alloc(4 + words * 4)
  packet.set([0x81, descriptionType, 0, words])
  packet.writeUInt32BE(ssrc, 4)
  packet.set([1, name.length], 8)
  packet.write(name, 10, 'latin1')
  return packet
}

const secondsTo1970 = 2_208_988_800

/** An RTP timestamp and the matching time of the sender's clock. */
export interface ClockPoint {
  /** Milliseconds since the epoch, by the sender's clock. */
  ntp: number
  timestamp: number
  /** Middle 32 bits of the NTP time, as in receiver reports. */
  middle: number
}

/** Calls `visit` for each sender report in a compound, with its SSRC and clock point. */
export function eachClockPoint(compound: Buffer, visit: (ssrc: number, point: ClockPoint) => void): void {
  eachReport(compound, (type, _format, at, length) => {
    if (type !== senderReportType || length < 28) return
    const seconds = compound.readUInt32BE(at + 8)
    const fraction = compound.readUInt32BE(at + 12)
    visit(compound.readUInt32BE(at + 4), {
      ntp: (seconds - secondsTo1970) * 1000 + (fraction / 2 ** 32) * 1000,
      timestamp: compound.readUInt32BE(at + 16),
      middle: compound.readUInt32BE(at + 10),
    })
  })
}

/** Returns the clock point of the last sender report in a compound; undefined if there is none. */
export function clockPointOf(compound: Buffer): ClockPoint | undefined {
  let last: ClockPoint | undefined
  eachClockPoint(compound, (_ssrc, point) => {
    last = point
  })
  return last
}

/** The part of a receiver's report block that a sender uses (RFC 3550, section 6.4.1). */
export interface ReceivedBlock {
  ssrc: number
  /** Share of packets lost since the last report, 0 to 1. */
  lost: number
  /** Middle 32 bits of the NTP time of the last sender report; 0: no report arrived. */
  lastReport: number
  /** Time between the arrival of the sender report and this report, in 1/65536 s. */
  delay: number
}

/** Receives the requests and reports of a receiver. */
export interface FeedbackListener {
  /** Called for each packet that the receiver misses (generic NACK, RFC 4585, section 6.2.1). */
  missing(ssrc: number, sequence: number): void
  /**
   * Called if the receiver needs a key frame: Picture Loss Indication or Full Intra Request (RFC 4585, section 6.3.1;
   * RFC 5104, section 4.3.1).
   */
  keyFrameWanted(): void
  /** Called with the receiver's estimate of the total bitrate (draft-alvestrand-rmcat-remb, section 2.2). */
  bitrate(bitsPerSecond: number): void
  block(block: ReceivedBlock): void
  /** Called if the receiver measures the round trip. @param middle 32 bits of its NTP time (RFC 3611, section 4.4) */
  referenceTime(ssrc: number, middle: number): void
}

const reportBlockBytes = 24
/** Maximum number of packets requested per compound; further requests are ignored as a flood. */
const maxMissing = 1_000

/** Parses a receiver's compound RTCP packet in one pass. Skips malformed packets and other types. */
export function readFeedback(compound: Buffer, listener: FeedbackListener): void {
  let left = maxMissing
  let timed = false
  eachReport(compound, (type, format, at, length) => {
    if (type === receiverReportType) readBlocks(compound, at + 8, format, at + length, listener)
    else if (type === senderReportType) readBlocks(compound, at + 28, format, at + length, listener)
    else if (type === transportFeedbackType && format === 1) left = readMissing(compound, at, length, left, listener)
    else if (type === payloadFeedbackType && (format === 1 || format === 4)) listener.keyFrameWanted()
    else if (type === extendedReportType && length >= 8) {
      eachReferenceTime(compound, at, length, (ssrc, middle) => {
        // The listener answers each reference time; more than one answer per compound has no use.
        if (!timed) listener.referenceTime(ssrc, middle)
        timed = true
      })
    } else if (type === payloadFeedbackType && format === 15) readBitrate(compound, at, length, listener)
  })
}

function readBlocks(compound: Buffer, first: number, count: number, end: number, listener: FeedbackListener): void {
  for (let i = 0, at = first; i < count && at + reportBlockBytes <= end; i++, at += reportBlockBytes) {
    listener.block({
      ssrc: compound.readUInt32BE(at),
      lost: (compound[at + 4] ?? 0) / 256,
      lastReport: compound.readUInt32BE(at + 16),
      delay: compound.readUInt32BE(at + 20),
    })
  }
}

/** Passes the packets of a generic NACK to the listener. Returns the number of packets that may still be requested. */
function readMissing(compound: Buffer, at: number, length: number, max: number, listener: FeedbackListener): number {
  if (length < 12) return max
  let left = max
  const ssrc = compound.readUInt32BE(at + 8)
  for (let item = at + 12; item + 4 <= at + length && left > 0; item += 4) {
    const first = compound.readUInt16BE(item)
    const mask = (compound.readUInt16BE(item + 2) << 1) | 1
    for (let ahead = 0; ahead <= 16 && left > 0; ahead++) {
      if ((mask & (1 << ahead)) === 0) continue
      left -= 1
      listener.missing(ssrc, (first + ahead) & 0xffff)
    }
  }
  return left
}

function readBitrate(compound: Buffer, at: number, length: number, listener: FeedbackListener): void {
  if (length < 20 || compound.toString('latin1', at + 12, at + 16) !== 'REMB') return
  const exponent = (compound[at + 17] ?? 0) >> 2
  const mantissa = (((compound[at + 17] ?? 0) & 0x03) << 16) | compound.readUInt16BE(at + 18)
  listener.bitrate(mantissa * 2 ** exponent)
}
