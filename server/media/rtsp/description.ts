import { parse } from 'sdp-transform'
import { numberOf, textOf } from '../sdp-value.ts'

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

/** What DESCRIBE answered. */
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

/** Most media sections looked at: a camera has a handful. */
const mostTracks = 16

/** Reads the SDP of a camera. Anything it cannot make sense of is left out, never an error. */
export function parseDescription(text: string): RtspDescription {
  const session = parse(text)
  const tracks = (session.media ?? []).slice(0, mostTracks).flatMap((media): RtspTrack[] => {
    if (media.type !== 'video' && media.type !== 'audio') return []
    const payloadType = Number.parseInt(textOf(media.payloads ?? ''), 10)
    if (!(payloadType >= 0 && payloadType <= 127)) return []
    const map = (media.rtp ?? []).find(({ payload }) => payload === payloadType)
    const known = staticTypes.get(payloadType)
    return [
      {
        kind: media.type,
        payloadType,
        codec: map === undefined ? (known?.codec ?? '') : textOf(map.codec).toUpperCase(),
        clockRate: numberOf(map?.rate ?? known?.clockRate ?? 0),
        channels: numberOf(map?.encoding ?? known?.channels ?? 1),
        parameters: formatParameters(
          (media.fmtp ?? []).filter(({ payload }) => payload === payloadType).map(({ config }) => textOf(config)),
        ),
        control: controlOf(media),
      },
    ]
  })
  return { control: controlOf(session), tracks }
}

function controlOf(section: object): string {
  const control = 'control' in section ? section.control : ''
  return typeof control === 'string' || typeof control === 'number' ? textOf(control).trim() : ''
}

function formatParameters(lines: readonly string[]): Map<string, string> {
  const parameters = new Map<string, string>()
  for (const part of lines.flatMap((line) => line.split(';'))) {
    const equals = part.indexOf('=')
    if (equals > 0) parameters.set(part.slice(0, equals).trim().toLowerCase(), part.slice(equals + 1).trim())
  }
  return parameters
}
