import { beginExtension, headerWithSendTime } from './send-time.ts'

/** Bytes of the padding of a packet: as many as its last one can name (RFC 3550, section 5.1). */
const most = 255

/** Bytes of a packet that holds nothing else. */
export const paddingBytes = headerWithSendTime + most

/** A packet of padding, with room for its send time; payload type and SSRC are the sender's to write. */
export function paddingPacket(sequence: number, timestamp: number): Buffer {
  const packet = Buffer.alloc(paddingBytes)
  packet[0] = 0xa0
  beginExtension(packet)
  packet.writeUInt16BE(sequence, 2)
  packet.writeUInt32BE(timestamp, 4)
  packet[packet.length - 1] = most
  return packet
}
