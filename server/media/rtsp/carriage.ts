import type { RtspTrack } from './description.ts'
import { describesBFrames } from './resolution.ts'

/** Codecs that go from a camera to a browser as they are. */
export type CarriedVideoCodec = 'H264' | 'H265'
export type CarriedAudioCodec = 'PCMU' | 'PCMA' | 'G722' | 'OPUS'

/** Whether a track can be carried, and one plain sentence about it. */
export interface Carriage {
  carried: boolean
  detail: string
}

/** Says whether browsers take a camera's track without transcoding. */
export function carriageOf(track: RtspTrack): Carriage {
  return track.kind === 'video' ? videoCarriage(track) : audioCarriage(track)
}

/** WebRTC has no order of presentation: a browser shows pictures as they come, and leaves out those that come late. */
const bFrames = 'browsers show few of its pictures; switch B-frames off in the device'

function videoCarriage(track: RtspTrack): Carriage {
  const { codec, clockRate, parameters } = track
  if (codec === 'H264') {
    // Interleaved mode (RFC 6184, section 6.4) needs reordering that WebRTC has not.
    if (parameters.get('packetization-mode') === '2') return no('H.264 in interleaved mode cannot be carried')
    if (clockRate !== 90_000) return no('H.264 with a clock other than 90 kHz cannot be carried')
    return yes(describesBFrames(track) ? `H.264 with B-frames: ${bFrames}` : 'H.264')
  }
  if (codec === 'H265') {
    if (clockRate !== 90_000) return no('H.265 with a clock other than 90 kHz cannot be carried')
    return yes(
      describesBFrames(track)
        ? `H.265 with B-frames: ${bFrames}`
        : 'H.265: only viewers whose browser decodes it see the picture; H.264 suits every viewer',
    )
  }
  if (codec === 'JPEG') return no('Motion JPEG cannot be carried: set the device to H.264')
  return no(`${codec === '' ? 'an unknown codec' : codec} cannot be carried: set the device to H.264`)
}

function audioCarriage({ codec, clockRate, channels }: RtspTrack): Carriage {
  if (codec === 'OPUS') return yes('Opus')
  if (codec === 'PCMU' || codec === 'PCMA' || codec === 'G722') {
    const name = codec === 'G722' ? 'G.722' : codec === 'PCMU' ? 'G.711 μ-law' : 'G.711 A-law'
    return clockRate === 8000 && channels === 1 ? yes(name) : no(`${name} is carried with 8 kHz and one channel only`)
  }
  if (codec === 'MPEG4-GENERIC' || codec === 'MP4A-LATM') {
    return no('AAC cannot be carried, the picture only: set the device to G.711 or Opus for sound')
  }
  return no(`${codec === '' ? 'an unknown codec' : codec} cannot be carried: set the device to G.711 or Opus for sound`)
}

const yes = (detail: string): Carriage => ({ carried: true, detail })
const no = (detail: string): Carriage => ({ carried: false, detail })

/** The tracks that are passed on: the first video and the first audio that can be carried. */
export function tracksToPull(tracks: readonly RtspTrack[]): RtspTrack[] {
  const first = (kind: RtspTrack['kind']) => tracks.find((track) => track.kind === kind && carriageOf(track).carried)
  return [first('video'), first('audio')].filter((track) => track !== undefined)
}

/** Most tracks of one camera that are set up. */
const mostSetUp = 4

/**
 * What to set up for them, in the order of the description. Some servers send no sound while one of several videos is not set up; what comes of the others is
 * dropped.
 */
export function tracksToSetUp(tracks: readonly RtspTrack[], wanted: readonly RtspTrack[]): readonly RtspTrack[] {
  const hasSound = wanted.some(({ kind }) => kind === 'audio')
  const needed = tracks.filter((track) => wanted.includes(track) || (hasSound && track.kind === 'video'))
  return needed.length > mostSetUp ? wanted : needed
}
