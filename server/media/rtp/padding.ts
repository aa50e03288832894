import { beginExtension, headerWithSendTime } from './send-time.ts'

/** Bytes of the padding of a packet: as many as its last one can name (RFC 3550, section 5.1). */
const most = 255

/**
 * A packet that holds nothing else, with room for its send time; payload type and SSRC are the sender's to write.
 * @param bytes of padding, 1 to 255
 */
export function paddingPacket(sequence: number, timestamp: number, bytes = most): Buffer {
  const packet = Buffer.alloc(headerWithSendTime + bytes)
  packet[0] = 0xa0
  beginExtension(packet)
  packet.writeUInt16BE(sequence, 2)
  packet.writeUInt32BE(timestamp, 4)
  packet[packet.length - 1] = bytes
  return packet
}
