import { headerLength } from './packet.ts'

/**
 * Numbers in the VP8 payload descriptor (RFC 7741, section 4.2) by which a receiver finds what a picture refers to: of the picture, and of the last one of the
 * base layer. Two streams count them each for itself, so that they are shifted where a receiver goes from one to the other.
 */

/** Offsets of the identifiers in the descriptor; -1: none. Those of the base layer follow the picture's. */
export function pictureIdAt(packet: Buffer): number {
  const at = headerLength(packet)
  const extended = ((packet[at] ?? 0) & 0x80) !== 0 && ((packet[at + 1] ?? 0) & 0x80) !== 0
  return extended && at + 5 < packet.length ? at + 2 : -1
}

/** @param at of `pictureIdAt` */
export function pictureIdOf(packet: Buffer, at: number): number {
  const first = packet[at] ?? 0
  return (first & 0x80) === 0 ? first : packet.readUInt16BE(at) & 0x7fff
}

/** -1: it has none. @param at of `pictureIdAt` */
export function baseIndexOf(packet: Buffer, at: number): number {
  return hasBaseIndex(packet, at) ? (packet[baseIndexAt(packet, at)] ?? 0) : -1
}

/** Adds to both, in place and around their ends. @param at of `pictureIdAt` */
export function shiftIdentifiers(packet: Buffer, at: number, pictures: number, bases: number): void {
  const first = packet[at] ?? 0
  if (hasBaseIndex(packet, at)) {
    const index = baseIndexAt(packet, at)
    packet[index] = ((packet[index] ?? 0) + bases) & 0xff
  }
  if ((first & 0x80) === 0) packet[at] = (first + pictures) & 0x7f
  else packet.writeUInt16BE(0x8000 | ((packet.readUInt16BE(at) + pictures) & 0x7fff), at)
}

/** How far `b` is ahead of `a` among the numbers of pictures. */
export function picturesAhead(a: number, b: number): number {
  return ((b - a) << 17) >> 17
}

function hasBaseIndex(packet: Buffer, at: number): boolean {
  return ((packet[at - 1] ?? 0) & 0x40) !== 0
}

function baseIndexAt(packet: Buffer, at: number): number {
  return at + (((packet[at] ?? 0) & 0x80) === 0 ? 1 : 2)
}
