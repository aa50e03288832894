/**
 * Fields, padding and header extensions of an RTP packet (RFC 3550, section 5; RFC 8285), read and written in place
 * without an object per packet.
 */

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

/** Size of a header without contributing sources and extension (RFC 3550, section 5.1). */
const fixedBytes = 12

/** Whether a packet is RTP with a complete header. */
export function isRtp(packet: Buffer): boolean {
  return packet.length >= fixedBytes && (packet[0] ?? 0) >> 6 === 2 && headerLength(packet) <= packet.length
}

/** Whether a packet is RTCP, on a port shared with RTP (RFC 5761, section 4). */
export function isRtcp(packet: Buffer): boolean {
  const type = packet[1] ?? 0
  return packet.length >= 8 && type >= 192 && type <= 223
}

/** Returns the number of bytes before the payload, including contributing sources and extension. */
export function headerLength(packet: SharedPacket): number {
  const first = packet[0] ?? 0
  const fixed = fixedBytes + (first & 0x0f) * 4
  if ((first & 0x10) === 0) return fixed
  return fixed + 4 > packet.length ? packet.length + 1 : fixed + 4 + packet.readUInt16BE(fixed + 2) * 4
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

/** Identifiers of the one-byte form (RFC 8285, section 4.2) and the two-byte form (section 4.3). */
const oneByteHeads = 0xbede
const twoByteHeads = 0x1000
/** Id that ends the list of elements in the one-byte form. */
const reservedId = 15

/**
 * Returns the content of the header extension with this number, as a view into the packet; undefined if there is none.
 * @param id negotiated number, 1 to 14
 */
export function headerExtension(packet: Buffer, id: number): Buffer | undefined {
  const first = packet[0] ?? 0
  const end = headerLength(packet)
  if ((first & 0x10) === 0 || end > packet.length) return undefined
  const formAt = fixedBytes + (first & 0x0f) * 4
  const form = packet.readUInt16BE(formAt)
  const long = (form & 0xfff0) === twoByteHeads
  if (!long && form !== oneByteHeads) return undefined
  for (let at = formAt + 4; at < end; ) {
    const head = packet[at] ?? 0
    at += 1
    // Padding between elements.
    if (head === 0) continue
    const found = long ? head : head >> 4
    if (!long && found === reservedId) return undefined
    const length = long ? (packet[at] ?? 0) : (head & 0x0f) + 1
    if (long) at += 1
    if (found === id) return at + length <= end ? packet.subarray(at, at + length) : undefined
    at += length
  }
  return undefined
}

/**
 * Returns the packet without contributing sources and header extensions, which concern only its sender and the node.
 * Moves the header up to the payload in place.
 * @param packet a packet with a complete header (`isRtp`)
 */
export function withoutExtension(packet: Buffer): Buffer {
  const payloadAt = headerLength(packet)
  if (payloadAt === fixedBytes) return packet
  packet[0] = (packet[0] ?? 0) & 0xe0
  packet.copy(packet, payloadAt - fixedBytes, 0, fixedBytes)
  return packet.subarray(payloadAt - fixedBytes)
}

/**
 * URI of the header extension with the send time of a packet, by which a receiver distinguishes a growing queue in the
 * link from a sender that delays packets. The value has 24 bits: seconds in 6.18 fixed point
 * (http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time), in the form of RFC 8285, section 4.2.
 */
export const sendTimeUri = 'http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time'

/** Size of a header with the extension of one three-byte element, and offset of the element. */
const headerWithSendTime = fixedBytes + 8
const elementAt = fixedBytes + 4

/**
 * Returns a copy of a packet with space for its send time. Other extensions and contributing sources are removed,
 * because they were not negotiated.
 */
export function withSendTime(packet: Buffer): Buffer {
  const payloadAt = headerLength(packet)
  const copy = Buffer.allocUnsafe(headerWithSendTime + packet.length - payloadAt)
  packet.copy(copy, 0, 0, fixedBytes)
  beginExtension(copy)
  packet.copy(copy, headerWithSendTime, payloadAt)
  return copy
}

/** Initializes an empty extension for the send time. */
function beginExtension(packet: Buffer): void {
  packet[0] = ((packet[0] ?? 0) & 0xe0) | 0x10
  packet.writeUInt32BE(0xbede0001, fixedBytes)
  packet.writeUInt32BE(0, elementAt)
}

/**
 * Writes the send time into a header extension.
 * @param id number of the extension at the receiver; 0: the receiver does not support it, and padding is written
 * @param now milliseconds of a monotonic clock
 */
export function writeSendTime(packet: Buffer, id: number, now: number): void {
  const time = Math.floor((now / 1_000) * 2 ** 18) % 2 ** 24
  packet.writeUInt32BE(id === 0 ? 0 : (((id << 4) | 2) * 2 ** 24 + time) >>> 0, elementAt)
}

/** URI of the header extension with the audio level of a packet (RFC 6464). */
export const audioLevelUri = 'urn:ietf:params:rtp-hdrext:ssrc-audio-level'

/** Level of silence (RFC 6464, section 3). */
export const silentLevel = 127

/**
 * Returns the audio level of a packet in -dBov: 0 is the loudest, 127 silence; -1: the packet has no level.
 * @param id number of the extension, 1 to 14
 */
export function audioLevelOf(packet: Buffer, id: number): number {
  const element = headerExtension(packet, id)
  return element === undefined || element.length === 0 ? -1 : (element[0] ?? 0) & 0x7f
}

/** Builds a minimal padding packet that replaces a packet of a source. */
export function sourcePadding(ssrc: number, payloadType: number, sequence: number, timestamp: number): Buffer {
  const packet = Buffer.alloc(13)
  packet.set([0xa0, payloadType])
  packet.writeUInt16BE(sequence, 2)
  packet.writeUInt32BE(timestamp, 4)
  packet.writeUInt32BE(ssrc, 8)
  packet[12] = 1
  return packet
}

/** Maximum padding of a packet in bytes: the last byte holds the number of padding bytes (RFC 3550, section 5.1). */
const maxPadding = 255

/**
 * Builds a padding packet with space for its send time. The sender writes payload type and SSRC.
 * @param bytes number of padding bytes, 1 to 255
 */
export function paddingPacket(sequence: number, timestamp: number, bytes = maxPadding): Buffer {
  const packet = Buffer.alloc(headerWithSendTime + bytes)
  packet[0] = 0xa0
  beginExtension(packet)
  packet.writeUInt16BE(sequence, 2)
  packet.writeUInt32BE(timestamp, 4)
  packet[packet.length - 1] = bytes
  return packet
}
