import type { RtspTrack } from '../rtsp/description.ts'
import type { SampleDecoder } from './frame-assembly.ts'
import { g722Decoder } from './g722-decoder.ts'
import { g726Decoder } from './g726-decoder.ts'

/** Linear 16-bit samples of the codes of G.711 (ITU-T G.711, tables 1 and 2). */
const linear = {
  PCMU: Int16Array.from({ length: 256 }, (_, code) => {
    const bits = ~code & 0xff
    const magnitude = ((((bits & 0x0f) << 3) + 0x84) << ((bits & 0x70) >> 4)) - 0x84
    return (bits & 0x80) === 0 ? magnitude : -magnitude
  }),
  PCMA: Int16Array.from({ length: 256 }, (_, code) => {
    const bits = code ^ 0x55
    const segment = (bits & 0x70) >> 4
    const base = ((bits & 0x0f) << 4) + 8
    const magnitude = segment === 0 ? base : (base + 0x100) << (segment - 1)
    return (bits & 0x80) === 0 ? -magnitude : magnitude
  }),
} as const

/** Sound that the node decodes itself, so that it can be recorded without ffmpeg. */
export interface DecodedSound {
  sampleRate: number
  channels: number
  /** Creates a decoder with separate state. */
  decoder: () => SampleDecoder
}

/** Maximum sample rate and number of channels of recorded sound: an MP4 sample entry has 16 bits for the rate. */
const maxRate = 65_535
const maxChannels = 8

/** Returns the decoding of a track's sound; undefined if it is not supported. */
export function decodedSound({
  codec,
  clockRate,
  channels,
}: Pick<RtspTrack, 'codec' | 'clockRate' | 'channels'>): DecodedSound | undefined {
  if (clockRate < 1 || clockRate > maxRate || channels < 1 || channels > maxChannels) return undefined
  const format = { sampleRate: clockRate, channels }
  if (codec === 'PCMU' || codec === 'PCMA') {
    const table = linear[codec]
    return { ...format, decoder: () => (payload) => Int16Array.from(payload, (code) => table[code] ?? 0) }
  }
  if (codec === 'L16') return { ...format, decoder: () => linear16 }
  if (channels !== 1) return undefined
  // The RTP clock of G.722 is 8 kHz for historic reasons (RFC 3551, section 4.5.2); some cameras declare the true rate.
  if (codec === 'G722') return { sampleRate: 16_000, channels, decoder: g722Decoder }
  const [, order, rate] = /^(AAL2-)?G726-(16|24|32|40)$/.exec(codec) ?? []
  if (rate === undefined) return undefined
  return { ...format, decoder: () => g726Decoder(Number(rate) / 8, order === undefined ? 'least' : 'most') }
}

/** Decodes samples in network byte order (RFC 3551, section 4.5.11). */
function linear16(payload: Buffer): Int16Array {
  return Int16Array.from({ length: payload.length >> 1 }, (_, index) => payload.readInt16BE(index * 2))
}
