import type { RtspTrack } from '../rtsp/description.ts'
import { describedResolution, describedSize, describedUnits } from '../rtsp/resolution.ts'
import { AccessUnits } from './access-units.ts'
import type { MakeAssembly } from './frame-assembly.ts'
import { JpegFrames } from './jpeg-frames.ts'
import type { MatroskaTrack } from './matroska.ts'
import { OlderPictures } from './older-pictures.ts'
import {
  AacFrames,
  aacLcConfig,
  aacSampleRate,
  LatmFrames,
  latmConfig,
  maxSignificantFirst,
  PlainFrames,
} from './sound-frames.ts'

/** A camera's track as input of a decoder. */
export interface SourceTrack {
  /** Matroska description without the track number, which is assigned later. */
  matroska: Omit<MatroskaTrack, 'number'>
  assembly: MakeAssembly
  /** Codec of pictures that are kept from the last key frame on; undefined for all other codecs. */
  pictures: 'H264' | 'H265' | undefined
}

/** Returns a track as input of a decoder; undefined if the track's format is not supported. */
export function sourceTrack(track: RtspTrack): SourceTrack | undefined {
  return track.kind === 'video' ? pictures(track) : sound(track)
}

/**
 * Assumed size of H.264 and H.265 pictures without a described size. Without a size, ffmpeg would search for seconds;
 * while decoding, it uses the size in the stream's parameter sets. Motion JPEG gets no assumed size, because ffmpeg
 * would interpret smaller pictures as fields.
 */
const usualSize = { width: 1_280, height: 720 }

function pictures(track: RtspTrack): SourceTrack | undefined {
  const { codec, clockRate, parameters } = track
  if (clockRate !== 90_000) return undefined
  const video = describedResolution(track) ?? 'unknown'
  if (codec === 'H264' || codec === 'H265') {
    if (isInterleaved(parameters)) return undefined
    const codecPrivate = parameterSetUnits(track)
    return {
      matroska: {
        codecId: codec === 'H264' ? 'V_MPEG4/ISO/AVC' : 'V_MPEGH/ISO/HEVC',
        codecPrivate,
        video: video === 'unknown' ? usualSize : video,
      },
      assembly: (take) => new AccessUnits(codec, take),
      pictures: codec,
    }
  }
  if (codec === 'JPEG') {
    return {
      matroska: { codecId: 'V_MJPEG', video },
      assembly: (take) => new JpegFrames(take, describedSize(track)),
      pictures: undefined,
    }
  }
  if (codec === 'MP4V-ES') {
    const config = Buffer.from((parameters.get('config') ?? '').slice(0, 2_048), 'hex')
    return {
      matroska: { codecId: 'V_MPEG4/ISO/ASP', codecPrivate: config.length > 0 ? config : undefined, video },
      assembly: (take) => new OlderPictures('MP4V-ES', take),
      pictures: undefined,
    }
  }
  if (codec === 'MPV') {
    return {
      matroska: { codecId: 'V_MPEG2', video },
      assembly: (take) => new OlderPictures('MPV', take),
      pictures: undefined,
    }
  }
  if (codec === 'H263-1998' || codec === 'H263-2000') {
    return {
      matroska: { codecId: 'V_MS/VFW/FOURCC', codecPrivate: bitmapHeader('H263'), video },
      assembly: (take) => new OlderPictures('H263', take),
      pictures: undefined,
    }
  }
  return undefined
}

/**
 * Whether the stream uses interleaved mode or decoding order numbers (RFC 6184, section 6.4; RFC 7798, section 4.4).
 * Such streams require reordering that WebRTC does not support.
 */
export function isInterleaved(parameters: RtspTrack['parameters']): boolean {
  return parameters.get('packetization-mode') === '2' || Number(parameters.get('sprop-max-don-diff') ?? 0) > 0
}

/** Returns the parameter sets of the description in Annex B form; undefined if the description has none. */
function parameterSetUnits(track: RtspTrack): Buffer | undefined {
  const units = describedUnits(track)
  if (units.length === 0) return undefined
  return Buffer.concat(units.flatMap((unit) => [Buffer.from([0, 0, 0, 1]), unit]))
}

function bitmapHeader(name: string): Buffer {
  const header = Buffer.alloc(40)
  header.writeUInt32LE(40, 0)
  header.writeUInt16LE(1, 12)
  header.writeUInt16LE(24, 14)
  header.write(name, 16, 'latin1')
  return header
}

/** Bits per G.726 codeword, by the end of the codec name. */
const codewordBits: ReadonlyMap<string, number> = new Map([
  ['16', 2],
  ['24', 3],
  ['32', 4],
  ['40', 5],
])

function sound(track: RtspTrack): SourceTrack | undefined {
  const { codec, clockRate, channels } = track
  if (clockRate === 0 || channels === 0) return undefined
  const audio = { sampleRate: clockRate, channels }
  const plain = (matroska: Omit<MatroskaTrack, 'number' | 'audio'>, make: MakeAssembly): SourceTrack => ({
    matroska: { ...matroska, audio },
    assembly: make,
    pictures: undefined,
  })
  if (codec === 'MPEG4-GENERIC' || codec === 'MP4A-LATM') return aac(track)
  if (codec === 'PCMU' || codec === 'PCMA') {
    const tag = codec === 'PCMU' ? waveTags.muLaw : waveTags.aLaw
    return plain({ codecId: 'A_MS/ACM', codecPrivate: waveHeader(tag, 8, audio) }, (take) => new PlainFrames(take))
  }
  // The RTP clock of G.722 is 8 kHz for historic reasons (RFC 3551, section 4.5.2).
  if (codec === 'G722') {
    const wide = { sampleRate: 16_000, channels }
    return {
      matroska: { codecId: 'A_MS/ACM', codecPrivate: waveHeader(waveTags.g722, 4, wide), audio: wide },
      assembly: (take) => new PlainFrames(take),
      pictures: undefined,
    }
  }
  const [, order, bits] = /^(AAL2-)?G726-(16|24|32|40)$/.exec(codec) ?? []
  if (bits !== undefined) {
    const codeword = codewordBits.get(bits) ?? 4
    const change = order === undefined ? (samples: Buffer) => maxSignificantFirst(samples, codeword) : undefined
    return plain(
      { codecId: 'A_MS/ACM', codecPrivate: waveHeader(waveTags.g726, codeword, audio) },
      (take) => new PlainFrames(take, 0, change),
    )
  }
  if (codec === 'L16') return plain({ codecId: 'A_PCM/INT/BIG' }, (take) => new PlainFrames(take))
  // The first 4 bytes are the packet's offset within a frame (RFC 2250, section 3.5).
  if (codec === 'MPA') {
    return {
      matroska: { codecId: 'A_MPEG/L2', audio: { sampleRate: 44_100, channels: 2 } },
      assembly: (take) => new PlainFrames(take, 4),
      pictures: undefined,
    }
  }
  return undefined
}

/** Returns an AAC track in one of the two payload formats: RFC 3640, or LATM (RFC 6416). */
function aac({ codec, clockRate, channels, parameters }: RtspTrack): SourceTrack | undefined {
  const config = (parameters.get('config') ?? '').slice(0, 256)
  const isLatm = codec === 'MP4A-LATM'
  if (isLatm && parameters.get('cpresent') !== '0') return undefined
  const described = isLatm ? latmConfig(config) : Buffer.from(config, 'hex')
  const isDescribed = isLatm ? config !== '' : (described?.length ?? 0) >= 2
  const codecPrivate = isDescribed ? described : aacLcConfig(clockRate, channels)
  if (codecPrivate === undefined || codecPrivate.length < 2) return undefined
  const sampleRate = aacSampleRate(codecPrivate) ?? clockRate
  const matroska = { codecId: 'A_AAC', codecPrivate, audio: { sampleRate, channels } }
  if (isLatm) return { matroska, assembly: (take) => new LatmFrames(take), pictures: undefined }
  const lengthOf = (name: string, usual: number): number => {
    const length = Number(parameters.get(name) ?? usual)
    return Number.isInteger(length) && length >= 0 && length <= 32 ? length : usual
  }
  const layout = {
    sizeLength: lengthOf('sizelength', 13),
    indexLength: lengthOf('indexlength', 3),
    frameTicks: 1_024 * (clockRate / sampleRate),
  }
  return { matroska, assembly: (take) => new AacFrames(layout, take), pictures: undefined }
}

/** Format tags of WAVE (RFC 2361). */
const waveTags = { aLaw: 6, muLaw: 7, g726: 0x45, g722: 0x28f } as const

function waveHeader(
  tag: number,
  bitsPerSample: number,
  { sampleRate, channels }: { sampleRate: number; channels: number },
): Buffer {
  const header = Buffer.alloc(18)
  header.writeUInt16LE(tag, 0)
  header.writeUInt16LE(channels, 2)
  header.writeUInt32LE(sampleRate, 4)
  header.writeUInt32LE((sampleRate * channels * bitsPerSample) >> 3, 8)
  header.writeUInt16LE(Math.max(1, (channels * bitsPerSample) >> 3), 12)
  header.writeUInt16LE(bitsPerSample, 14)
  return header
}
