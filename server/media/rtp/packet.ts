/** Fields of an RTP packet (RFC 3550, section 5.1), read and written in place: no object per packet. */

/** Whether it is an RTP packet whose header is whole. */
export function isRtp(packet: Buffer): boolean {
  return packet.length >= 12 && (packet[0] ?? 0) >> 6 === 2 && headerLength(packet) <= packet.length
}

/** RTCP on the same port as RTP (RFC 5761, section 4). */
export function isRtcp(packet: Buffer): boolean {
  const type = packet[1] ?? 0
  return packet.length >= 8 && type >= 192 && type <= 223
}

/** Bytes before the payload, contributing sources and extension included. */
export function headerLength(packet: SharedPacket): number {
  const first = packet[0] ?? 0
  const fixed = 12 + (first & 0x0f) * 4
  if ((first & 0x10) === 0) return fixed
  return fixed + 4 > packet.length ? packet.length + 1 : fixed + 4 + packet.readUInt16BE(fixed + 2) * 4
}

const paddingBit = 0x20

/**
 * Clears the padding bit of a packet without padding of the length that its last byte names. Some encoders set the bit and name none, which RFC 3550, section 5.1, forbids: browsers
 * drop such a packet, and players take all of it.
 */
export function clearFalsePadding(packet: Buffer): void {
  const first = packet[0] ?? 0
  if ((first & paddingBit) === 0) return
  const padding = packet.at(-1) ?? 0
  if (padding === 0 || headerLength(packet) + padding > packet.length) packet[0] = first & ~paddingBit
}

/** Payload of a packet, without padding. */
export function payloadOf(packet: Buffer): Buffer {
  const padding = ((packet[0] ?? 0) & paddingBit) === 0 ? 0 : (packet.at(-1) ?? 0)
  return packet.subarray(headerLength(packet), packet.length - padding)
}

/** Nothing but padding: a sender tries its link with it (RFC 3550, section 5.1). */
export function isPadding(packet: Buffer): boolean {
  return ((packet[0] ?? 0) & paddingBit) !== 0 && payloadOf(packet).length === 0
}

export function sequenceOf(packet: SharedPacket): number {
  return packet.readUInt16BE(2)
}

export function timestampOf(packet: SharedPacket): number {
  return packet.readUInt32BE(4)
}

export function ssrcOf(packet: SharedPacket): number {
  return packet.readUInt32BE(8)
}

/** The last packet of a picture. */
export function hasMarker(packet: SharedPacket): boolean {
  return ((packet[1] ?? 0) & 0x80) !== 0
}

export function setMarker(packet: Buffer): void {
  packet[1] = (packet[1] ?? 0) | 0x80
}

/** Writes what is a viewer's own, keeping the marker. */
export function address(packet: Buffer, payloadType: number, ssrc: number): void {
  packet[1] = ((packet[1] ?? 0) & 0x80) | payloadType
  packet.writeUInt32BE(ssrc, 8)
}

/** How far `b` is ahead of `a` on a 16-bit circle: -32768 to 32767. */
export function sequenceDistance(a: number, b: number): number {
  return ((b - a) << 16) >> 16
}

/** An RTP packet that several readers share: it can be read, and copied, but not written. Buffers are such packets. */
export interface SharedPacket {
  readonly length: number
  readonly [index: number]: number
  readUInt16BE(at: number): number
  readUInt32BE(at: number): number
  subarray(from?: number, to?: number): SharedPacket
  copy(target: Uint8Array, targetStart?: number, from?: number, to?: number): number
}
