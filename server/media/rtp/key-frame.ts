import { splitUnits } from './annex-b.ts'
import { headerLength, type SharedPacket } from './packet.ts'

/** Content of a video packet, as far as a late joiner needs it. */
export const nothing = 0
/** A part of a parameter set (H.264: SPS, PPS; H.265 also VPS). */
const parameterSet = 1
/** The beginning of a picture that can be decoded by itself. */
export const keyFrame = 2
/** An SPS. */
export const sequenceParameters = 4

/** The bits above, for one packet. */
export type Content = number

/** Payload format of the NAL units of a codec. */
interface UnitFormat {
  /** Length of a unit's header, in bytes. */
  header: number
  /** Lowest bit of the type in the first byte of the header. */
  shift: number
  /** Bits of the type, in a fragment too. */
  mask: number
  /** Type of a packet that holds several units. */
  aggregation: number
  /** Type of a packet that holds a part of a unit. */
  fragmentation: number
  /** Content of a unit, by its type. */
  contentOf: (type: number) => Content
}

const h264Units: UnitFormat = {
  header: 1,
  shift: 0,
  mask: 0x1f,
  aggregation: 24,
  fragmentation: 28,
  contentOf: (type) => {
    if (type === 5) return keyFrame
    if (type === 7) return parameterSet | sequenceParameters
    return type === 8 ? parameterSet : nothing
  },
}

const h265Units: UnitFormat = {
  header: 2,
  shift: 1,
  mask: 0x3f,
  aggregation: 48,
  fragmentation: 49,
  contentOf: (type) => {
    if (type >= 16 && type <= 21) return keyFrame
    if (type === 33) return parameterSet | sequenceParameters
    return type === 32 || type === 34 ? parameterSet : nothing
  },
}

/** H.264 (RFC 6184): single NAL units, STAP-A, FU-A. */
export function h264Content(packet: SharedPacket): Content {
  return unitsContent(packet, h264Units)
}

/** H.265 (RFC 7798): single NAL units, aggregation and fragmentation units. */
export function h265Content(packet: SharedPacket): Content {
  return unitsContent(packet, h265Units)
}

function unitsContent(
  packet: SharedPacket,
  { header, shift, mask, aggregation, fragmentation, contentOf }: UnitFormat,
): Content {
  let at = headerLength(packet)
  const type = ((packet[at] ?? 0) >> shift) & mask
  if (type === fragmentation) {
    const fragment = packet[at + header] ?? 0
    return (fragment & 0x80) === 0 ? nothing : contentOf(fragment & mask)
  }
  if (type !== aggregation) return contentOf(type)
  let content = nothing
  at += header
  while (at + 2 < packet.length) {
    content |= contentOf(((packet[at + 2] ?? 0) >> shift) & mask)
    at += 2 + packet.readUInt16BE(at)
  }
  return content
}

/** VP8 (RFC 7741, section 4.2): the first packet of the first partition with the P bit clear. */
export function vp8Content(packet: SharedPacket): Content {
  const descriptor = packet[headerLength(packet)] ?? 0
  if ((descriptor & 0x10) === 0 || (descriptor & 0x07) !== 0) return nothing
  const at = vp8PayloadAt(packet)
  return at < packet.length && ((packet[at] ?? 1) & 1) === 0 ? keyFrame : nothing
}

/** Whether a packet is the first of a picture in VP8 (RFC 7741, section 4.2), or of a slice of one in H.264 (RFC 6184, section 5.8). */
export function beginsPicture(codec: 'VP8' | 'H264' | 'H265', packet: SharedPacket): boolean {
  const at = headerLength(packet)
  const first = packet[at] ?? 0
  if (codec === 'VP8') return (first & 0x17) === 0x10
  return codec === 'H264' && ((first & 0x1f) !== 28 || ((packet[at + 1] ?? 0) & 0x80) !== 0)
}

/** End of the VP8 payload descriptor of a packet (RFC 7741, section 4.2). */
export function vp8PayloadAt(packet: SharedPacket): number {
  let at = headerLength(packet)
  const descriptor = packet[at] ?? 0
  at += 1
  if ((descriptor & 0x80) !== 0) {
    const extension = packet[at] ?? 0
    at += 1
    if ((extension & 0x80) !== 0) at += ((packet[at] ?? 0) & 0x80) === 0 ? 1 : 2
    if ((extension & 0x40) !== 0) at += 1
    if ((extension & 0x30) !== 0) at += 1
  }
  return at
}

/** Limit of parameter sets of one list that are read. */
const maxSets = 8

/** Returns the NAL units of a list in base64 (RFC 6184, section 8.1; RFC 7798, section 7.1), at most eight. Empty ones are left out, and so are start codes. */
export function parameterSetsOf(list: string): Buffer[] {
  return list.split(',', maxSets).flatMap((text) => splitUnits(Buffer.from(text.trim(), 'base64')))
}
