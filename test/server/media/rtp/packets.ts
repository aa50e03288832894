/** Makes an RTP packet with a payload. */
export function rtp(
  sequence: number,
  timestamp: number,
  payload: readonly number[],
  { ssrc = 7, marker = false, payloadType = 96 } = {},
): Buffer {
  const header = Buffer.alloc(12)
  header.set([0x80, (marker ? 0x80 : 0) | payloadType])
  header.writeUInt16BE(sequence & 0xffff, 2)
  header.writeUInt32BE(timestamp >>> 0, 4)
  header.writeUInt32BE(ssrc, 8)
  return Buffer.concat([header, Buffer.from(payload)])
}

/** NAL units of H.264. */
export const sps = [0x67, 0x42, 0xe0, 0x1f]
export const pps = [0x68, 0xce, 0x3c, 0x80]
export const sei = [0x06, 0x05]
export const idr = [0x65, 0x88]
export const delta = [0x41, 0x9a]
