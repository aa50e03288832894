/** Frame sizes by the configuration in the first byte, in milliseconds (RFC 6716, section 3.1). */
const silkMs = [10, 20, 40, 60]
const hybridMs = [10, 20]
const celtMs = [2.5, 5, 10, 20]

/** Longest packet, in milliseconds (RFC 6716, section 3.4, R5). */
const maxMs = 120

/** Duration of an Opus packet in milliseconds; 0 when it is broken. */
export function opusDurationMs(packet: Buffer): number {
  const [first, second] = packet
  if (first === undefined) return 0
  const config = first >> 3
  const frameMs = config < 12 ? silkMs[config & 3] : config < 16 ? hybridMs[config & 1] : celtMs[config & 3]
  const code = first & 3
  const frames = code === 0 ? 1 : code < 3 ? 2 : (second ?? 0) & 0x3f
  const duration = (frameMs ?? 0) * frames
  return duration <= maxMs ? duration : 0
}

/** 20 ms of silence in stereo, full band (RFC 6716: CELT with nothing in it). */
export const opusSilence = Buffer.from([0xfc, 0xff, 0xfe])
export const opusSilenceMs = 20
