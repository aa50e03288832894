import { headerLength } from './packet.ts'

/**
 * Picture identifier and base layer index of the VP8 payload descriptor (RFC 7741, section 4.2), by which a receiver
 * finds reference pictures. Each stream counts independently, so both are shifted when a receiver switches streams.
 */

/** Returns the offset of the picture identifier, which the base layer index follows; -1: no identifier. */
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
