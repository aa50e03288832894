import { headerLength } from './packet.ts'

/**
 * URI of the header extension with the send time of a packet, by which a receiver distinguishes a growing queue in the
 * link from a sender that delays packets. The value has 24 bits: seconds in 6.18 fixed point
 * (http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time), in the form of RFC 8285, section 4.2.
 */
export const sendTimeUri = 'http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time'

/** Size of an RTP header without contributing sources, and with the extension of one three-byte element. */
const fixedBytes = 12
export const headerWithSendTime = fixedBytes + 8
const elementAt = 16

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
export function beginExtension(packet: Buffer): void {
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
