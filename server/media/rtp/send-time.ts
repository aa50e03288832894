import { headerLength } from './packet.ts'

/**
 * When a packet was sent, as a header extension: from it a receiver tells a link whose queue grows from a sender that holds packets back. 24 bits of seconds
 * in 6.18 fixed point (http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time), in the form of RFC 8285, section 4.2.
 */
export const sendTimeUri = 'http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time'

/** Header of RTP without contributing sources, and the extension with one element of three bytes. */
const fixedBytes = 12
export const headerWithSendTime = fixedBytes + 8
const elementAt = 16

/** A copy of a packet with room for its send time; other extensions and contributing sources are left out, for nobody negotiated them. */
export function withSendTime(packet: Buffer): Buffer {
  const payloadAt = headerLength(packet)
  const copy = Buffer.allocUnsafe(headerWithSendTime + packet.length - payloadAt)
  packet.copy(copy, 0, 0, fixedBytes)
  beginExtension(copy)
  packet.copy(copy, headerWithSendTime, payloadAt)
  return copy
}

/** Marks the header as one with room for the send time, none written yet. */
export function beginExtension(packet: Buffer): void {
  packet[0] = ((packet[0] ?? 0) & 0xe0) | 0x10
  packet.writeUInt32BE(0xbede0001, fixedBytes)
  packet.writeUInt32BE(0, elementAt)
}

/**
 * Writes it, under the receiver's number for it; 0: the receiver does not know it, and finds padding instead.
 * @param now milliseconds of a clock that never goes back
 */
export function writeSendTime(packet: Buffer, id: number, now: number): void {
  const time = Math.floor((now / 1_000) * 2 ** 18) % 2 ** 24
  packet.writeUInt32BE(id === 0 ? 0 : (((id << 4) | 2) * 2 ** 24 + time) >>> 0, elementAt)
}
