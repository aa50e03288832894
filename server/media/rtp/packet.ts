/** Fields of an RTP packet (RFC 3550, section 5.1), read and written in place without an object per packet. */

/** Whether a packet is RTP with a complete header. */
export function isRtp(packet: Buffer): boolean {
  return packet.length >= 12 && (packet[0] ?? 0) >> 6 === 2 && headerLength(packet) <= packet.length
}

/** Whether a packet is RTCP, on a port shared with RTP (RFC 5761, section 4). */
export function isRtcp(packet: Buffer): boolean {
  const type = packet[1] ?? 0
  return packet.length >= 8 && type >= 192 && type <= 223
}

/** Returns the number of bytes before the payload, including contributing sources and extension. */
export function headerLength(packet: SharedPacket): number {
  const first = packet[0] ?? 0
  const fixed = 12 + (first & 0x0f) * 4
  if ((first & 0x10) === 0) return fixed
  return fixed + 4 > packet.length ? packet.length + 1 : fixed + 4 + packet.readUInt16BE(fixed + 2) * 4
}

const paddingBit = 0x20

/**
 * Clears the padding bit of a packet whose last byte is not a valid padding length. Some encoders set the bit without
 * padding, which RFC 3550, section 5.1, forbids. Browsers drop such packets, while players use the whole payload.
 */
export function clearFalsePadding(packet: Buffer): void {
  const first = packet[0] ?? 0
  if ((first & paddingBit) === 0) return
  const padding = packet.at(-1) ?? 0
  if (padding === 0 || headerLength(packet) + padding > packet.length) packet[0] = first & ~paddingBit
}

/** Returns the payload of a packet without padding. */
export function payloadOf(packet: Buffer): Buffer {
  const padding = ((packet[0] ?? 0) & paddingBit) === 0 ? 0 : (packet.at(-1) ?? 0)
  return packet.subarray(headerLength(packet), packet.length - padding)
}

/** Whether a packet has no payload but padding (RFC 3550, section 5.1). Senders probe their link with such packets. */
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

/** Whether a packet has the marker, which ends a picture. */
export function hasMarker(packet: SharedPacket): boolean {
  return ((packet[1] ?? 0) & 0x80) !== 0
}

export function setMarker(packet: Buffer): void {
  packet[1] = (packet[1] ?? 0) | 0x80
}

/** Writes payload type and SSRC for a viewer, and keeps the marker. */
export function address(packet: Buffer, payloadType: number, ssrc: number): void {
  packet[1] = ((packet[1] ?? 0) & 0x80) | payloadType
  packet.writeUInt32BE(ssrc, 8)
}

/** Returns the distance from `a` to `b` modulo 2^16: -32768 to 32767. */
export function sequenceDistance(a: number, b: number): number {
  return ((b - a) << 16) >> 16
}

/**
 * An RTP packet shared by several readers. It can be read and copied, but not written. A Buffer satisfies this type.
 */
export interface SharedPacket {
  readonly length: number
  readonly [index: number]: number
  readUInt16BE(at: number): number
  readUInt32BE(at: number): number
  subarray(from?: number, to?: number): SharedPacket
  copy(target: Uint8Array, targetStart?: number, from?: number, to?: number): number
}
