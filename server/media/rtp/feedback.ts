import {
  eachReferenceTime,
  eachReport,
  extendedReportType,
  payloadFeedbackType,
  receiverReportType,
  senderReportType,
  transportFeedbackType,
} from './rtcp.ts'

/** A receiver's report on one stream. */
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
