import { keyFrame, noContent, type PacketContent } from './key-frame.ts'
import { headerLength, type SharedPacket } from './packet.ts'

/** VP8 in RTP packets (RFC 7741): payload descriptor, key frames and picture identifiers. */

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

/**
 * Size of a key frame's header in bytes: tag, start code, and two sizes of 14 bits with two scaling bits each (RFC
 * 6386, section 9.1).
 */
const vp8HeaderBytes = 10

/**
 * Returns the size of the VP8 key frame that begins in the packet; undefined if it is truncated.
 * @param payloadAt offset after the payload descriptor
 */
export function vp8PictureSize(packet: Buffer, payloadAt: number): { width: number; height: number } | undefined {
  if (payloadAt + vp8HeaderBytes > packet.length) return undefined
  if (packet.readUIntBE(payloadAt + 3, 3) !== 0x9d012a) return undefined
  const width = packet.readUInt16LE(payloadAt + 6) & 0x3fff
  const height = packet.readUInt16LE(payloadAt + 8) & 0x3fff
  return width > 0 && height > 0 ? { width, height } : undefined
}

/**
 * Returns the offset of the picture identifier, which the base layer index follows; -1: no identifier. A receiver finds
 * reference pictures by both (RFC 7741, section 4.2). Each stream counts independently, so both are shifted when a
 * receiver switches streams.
 */
export function pictureIdAt(packet: Buffer): number {
  const at = headerLength(packet)
  const extended = ((packet[at] ?? 0) & 0x80) !== 0 && ((packet[at + 1] ?? 0) & 0x80) !== 0
  return extended && at + 5 < packet.length ? at + 2 : -1
}

/** Returns the picture identifier. @param at offset from `pictureIdAt` */
export function pictureIdOf(packet: Buffer, at: number): number {
  const first = packet[at] ?? 0
  return (first & 0x80) === 0 ? first : packet.readUInt16BE(at) & 0x7fff
}

/** Returns the base layer index; -1 if there is none. @param at offset from `pictureIdAt` */
export function baseIndexOf(packet: Buffer, at: number): number {
  return hasBaseIndex(packet, at) ? (packet[baseIndexAt(packet, at)] ?? 0) : -1
}

/** Adds to both identifiers in place, with wraparound. @param at offset from `pictureIdAt` */
export function shiftIdentifiers(packet: Buffer, at: number, pictures: number, bases: number): void {
  const first = packet[at] ?? 0
  if (hasBaseIndex(packet, at)) {
    const index = baseIndexAt(packet, at)
    packet[index] = ((packet[index] ?? 0) + bases) & 0xff
  }
  if ((first & 0x80) === 0) packet[at] = (first + pictures) & 0x7f
  else packet.writeUInt16BE(0x8000 | ((packet.readUInt16BE(at) + pictures) & 0x7fff), at)
}

/** Returns the distance from picture identifier `a` to `b` modulo 2^15: -16384 to 16383. */
export function picturesAhead(a: number, b: number): number {
  return ((b - a) << 17) >> 17
}

function hasBaseIndex(packet: Buffer, at: number): boolean {
  return ((packet[at - 1] ?? 0) & 0x40) !== 0
}

function baseIndexAt(packet: Buffer, at: number): number {
  return at + (((packet[at] ?? 0) & 0x80) === 0 ? 1 : 2)
}
