import { h264Parameters, type Resolution } from '../rtsp/resolution.ts'
import { headerLength } from './packet.ts'

/** NAL unit types of H.264 packets (RFC 6184). */
const sequenceParameterSet = 7
const aggregate = 24

/**
 * Returns the picture size from an H.264 sequence parameter set in the packet, as a single unit or in a STAP-A;
 * undefined if the set is absent or malformed.
 */
export function h264PictureSize(packet: Buffer): Resolution | undefined {
  const at = headerLength(packet)
  const type = (packet[at] ?? 0) & 0x1f
  if (type === sequenceParameterSet) return h264Parameters(packet.subarray(at))
  if (type !== aggregate) return undefined
  for (let unit = at + 1; unit + 2 < packet.length; ) {
    const length = packet.readUInt16BE(unit)
    const nal = packet.subarray(unit + 2, unit + 2 + length)
    if (((nal[0] ?? 0) & 0x1f) === sequenceParameterSet) return h264Parameters(nal)
    unit += 2 + length
  }
  return undefined
}

/**
 * Size of a key frame's header in bytes: tag, start code, and two sizes of 14 bits with two scaling bits each (RFC
 * 6386, section 9.1).
 */
const vp8HeaderBytes = 10

/**
 * Returns the size of the VP8 key frame that begins in the packet; undefined if it is truncated.
 * @param payloadAt offset after the payload descriptor
 */
export function vp8PictureSize(packet: Buffer, payloadAt: number): Resolution | undefined {
  if (payloadAt + vp8HeaderBytes > packet.length) return undefined
  if (packet.readUIntBE(payloadAt + 3, 3) !== 0x9d012a) return undefined
  const width = packet.readUInt16LE(payloadAt + 6) & 0x3fff
  const height = packet.readUInt16LE(payloadAt + 8) & 0x3fff
  return width > 0 && height > 0 ? { width, height } : undefined
}
