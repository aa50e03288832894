import { beginExtension, headerWithSendTime } from './send-time.ts'

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
