import { parse } from 'sdp-transform'
import { usedLines } from '../webrtc/sdp-lines.ts'
import { numberOf, textOf } from '../webrtc/sdp-value.ts'

/** One stream that a camera describes. */
export interface RtspTrack {
  kind: 'video' | 'audio'
  payloadType: number
  /** In upper case; empty when the camera does not say. */
  codec: string
  clockRate: number
  channels: number
  /** Format parameters, names in lower case. */
  parameters: ReadonlyMap<string, string>
  /** Control attribute as the camera wrote it. */
  control: string
}

/** Answer to DESCRIBE. */
export interface RtspDescription {
  /** Session-level control attribute. */
  control: string
  tracks: RtspTrack[]
}

/** Payload types that need no rtpmap (RFC 3551, section 6). */
const staticTypes: ReadonlyMap<number, { codec: string; clockRate: number; channels: number }> = new Map([
  [0, { codec: 'PCMU', clockRate: 8000, channels: 1 }],
  [8, { codec: 'PCMA', clockRate: 8000, channels: 1 }],
  [9, { codec: 'G722', clockRate: 8000, channels: 1 }],
  [14, { codec: 'MPA', clockRate: 90000, channels: 1 }],
  [26, { codec: 'JPEG', clockRate: 90000, channels: 1 }],
])

/** Limit of media sections that are read: a camera has a handful. */
const maxTracks = 16
/** Lines that say something about tracks, and most of them. */
const readLine = /m=|a=(?:rtpmap:\d|fmtp:\d|control:)/y
const maxLines = 256
/** Longest control attribute, in characters: longer ones cannot be asked for. */
const maxControl = 1_024
/** Timestamp clocks that exist, in Hz. */
const fastestClock = 192_000
const maxChannels = 8

/**
 * Reads the SDP of a camera. Anything it cannot make sense of is left out, never an error, and no number leaves its range. Lines that are not used are not
 * parsed.
 */
export function parseDescription(text: string): RtspDescription {
  const session = parse(usedLines(text, readLine, maxLines))
  const tracks = (session.media ?? []).slice(0, maxTracks).flatMap((media): RtspTrack[] => {
    if (media.type !== 'video' && media.type !== 'audio') return []
    const payloadType = inRange(Number.parseInt(textOf(media.payloads ?? ''), 10), 0, 127)
    const control = controlOf(media)
    if (payloadType === undefined || control.length > maxControl) return []
    const map = (media.rtp ?? []).find(({ payload }) => payload === payloadType)
    const known = staticTypes.get(payloadType)
    return [
      {
        kind: media.type,
        payloadType,
        codec: map === undefined ? (known?.codec ?? '') : textOf(map.codec).toUpperCase().slice(0, maxCodec),
        clockRate: inRange(numberOf(map?.rate ?? known?.clockRate ?? 0), 1, fastestClock) ?? 0,
        channels: inRange(numberOf(map?.encoding ?? known?.channels ?? 1), 1, maxChannels) ?? 0,
        parameters: formatParameters(
          (media.fmtp ?? []).filter(({ payload }) => payload === payloadType).map(({ config }) => textOf(config)),
        ),
        control,
      },
    ]
  })
  const control = controlOf(session)
  return { control: control.length > maxControl ? '' : control, tracks }
}

/** Longest name of a codec, in characters. */
const maxCodec = 32

function inRange(value: number, least: number, most: number): number | undefined {
  return value >= least && value <= most ? value : undefined
}

function controlOf(section: object): string {
  const control = 'control' in section ? section.control : ''
  return typeof control === 'string' || typeof control === 'number' ? textOf(control).trim() : ''
}

/** Most format parameters of a track. */
const maxParameters = 64

function formatParameters(lines: readonly string[]): Map<string, string> {
  const parameters = new Map<string, string>()
  for (const part of lines.flatMap((line) => line.split(';', maxParameters)).slice(0, maxParameters)) {
    const equals = part.indexOf('=')
    if (equals > 0) parameters.set(part.slice(0, equals).trim().toLowerCase(), part.slice(equals + 1).trim())
  }
  return parameters
}
