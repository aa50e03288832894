import { splitUnits } from './annex-b.ts'
import { headerLength, type SharedPacket } from './packet.ts'

/** Content of a video packet without any of the flags below, which mark content that late joiners need. */
export const noContent = 0
/** Flag: beginning of a parameter set (H.264: SPS, PPS; H.265 also VPS). */
const parameterSet = 1
/** Flag: beginning of a picture that can be decoded by itself. */
export const keyFrame = 2
/** Flag: beginning of a sequence parameter set. */
export const sequenceParameters = 4

/** Combination of the flags above for one packet. */
export type PacketContent = number

/** RTP payload format of a codec's NAL units. */
interface UnitFormat {
  header: number
  /** Lowest bit of the type in the first byte of the header. */
  shift: number
  /** Mask of the type, also in a fragment. */
  mask: number
  /** Type of a packet with several units. */
  aggregation: number
  /** Type of a packet with a fragment of a unit. */
  fragmentation: number
  /** Returns the content of a unit by its type. */
  contentOf: (type: number) => PacketContent
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
    return type === 8 ? parameterSet : noContent
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
    return type === 32 || type === 34 ? parameterSet : noContent
  },
}

/** Returns the content of an H.264 packet (RFC 6184): single NAL units, STAP-A, FU-A. */
export function h264Content(packet: SharedPacket): PacketContent {
  return unitsContent(packet, h264Units)
}

/** Returns the content of an H.265 packet (RFC 7798): single NAL units, aggregation and fragmentation units. */
export function h265Content(packet: SharedPacket): PacketContent {
  return unitsContent(packet, h265Units)
}

function unitsContent(
  packet: SharedPacket,
  { header, shift, mask, aggregation, fragmentation, contentOf }: UnitFormat,
): PacketContent {
  let at = headerLength(packet)
  const type = ((packet[at] ?? 0) >> shift) & mask
  if (type === fragmentation) {
    const fragment = packet[at + header] ?? 0
    return (fragment & 0x80) === 0 ? noContent : contentOf(fragment & mask)
  }
  if (type !== aggregation) return contentOf(type)
  let content = noContent
  at += header
  while (at + 2 < packet.length) {
    content |= contentOf(((packet[at + 2] ?? 0) >> shift) & mask)
    at += 2 + packet.readUInt16BE(at)
  }
  return content
}

/**
 * Returns the content of a VP8 packet (RFC 7741, section 4.2). The flag `keyFrame` is set only for the first packet of
 * the first partition, if its P bit is clear.
 */
export function vp8Content(packet: SharedPacket): PacketContent {
  const descriptor = packet[headerLength(packet)] ?? 0
  if ((descriptor & 0x10) === 0 || (descriptor & 0x07) !== 0) return noContent
  const at = vp8PayloadAt(packet)
  return at < packet.length && ((packet[at] ?? 1) & 1) === 0 ? keyFrame : noContent
}

/**
 * Whether a packet is the first of a VP8 picture (RFC 7741, section 4.2), or the first of a slice in H.264 (RFC 6184,
 * section 5.8). Always false for H.265.
 */
export function beginsPicture(codec: 'VP8' | 'H264' | 'H265', packet: SharedPacket): boolean {
  const at = headerLength(packet)
  const first = packet[at] ?? 0
  if (codec === 'VP8') return (first & 0x17) === 0x10
  return codec === 'H264' && ((first & 0x1f) !== 28 || ((packet[at + 1] ?? 0) & 0x80) !== 0)
}

/** Returns the offset of the first byte after the VP8 payload descriptor (RFC 7741, section 4.2). */
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

/** Maximum number of entries read from a list of parameter sets. */
const maxSets = 8

/**
 * Returns the NAL units in the first eight entries of a base64 list (RFC 6184, section 8.1; RFC 7798, section 7.1),
 * without start codes and empty units.
 */
export function parameterSetsOf(list: string): Buffer[] {
  return list.split(',', maxSets).flatMap((text) => splitUnits(Buffer.from(text.trim(), 'base64')))
}
