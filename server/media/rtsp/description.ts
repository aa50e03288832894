import { type MediaAttributes, type MediaDescription, parse } from 'sdp-transform'
import { numberOf, textOf, usedLines } from '../base/sdp-text.ts'
import { assumedClock, plainDescription, registeredCodec } from './leniency.ts'

export interface RtspTrack {
  kind: 'video' | 'audio'
  payloadType: number
  /** Codec name in upper case; empty if the camera does not name the codec. */
  codec: string
  /** Clock rate of the packets after conversion, in Hz; 0: unknown. */
  clockRate: number
  /**
   * Clock rate of the camera's packets if it differs from `clockRate`, in Hz: some cameras declare a rate other than 90
   * kHz for pictures.
   */
  declaredClock?: number
  channels: number
  /** Format parameters, with names in lower case. */
  parameters: ReadonlyMap<string, string>
  /** Control attribute as written by the camera. */
  control: string
  /**
   * Direction (RFC 3264). With ONVIF it is from the client's perspective, and `sendonly` marks a back channel. Without
   * ONVIF, `sendonly` marks media of the camera.
   */
  direction?: 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive' | undefined
  /** Whether the track's packets are encrypted (SRTP, RFC 3711). */
  encrypted?: boolean
  /** Other formats that the camera may send instead, identified by their payload types. */
  alternatives?: readonly RtspTrack[]
}

/** Parsed response to DESCRIBE. */
export interface RtspDescription {
  control: string
  tracks: RtspTrack[]
}

/** Static payload types, which need no rtpmap (RFC 3551, section 6). */
const staticTypes: ReadonlyMap<number, { codec: string; clockRate: number; channels: number }> = new Map([
  [0, { codec: 'PCMU', clockRate: 8000, channels: 1 }],
  [3, { codec: 'GSM', clockRate: 8000, channels: 1 }],
  [4, { codec: 'G723', clockRate: 8000, channels: 1 }],
  [5, { codec: 'DVI4', clockRate: 8000, channels: 1 }],
  [6, { codec: 'DVI4', clockRate: 16000, channels: 1 }],
  [7, { codec: 'LPC', clockRate: 8000, channels: 1 }],
  [8, { codec: 'PCMA', clockRate: 8000, channels: 1 }],
  [9, { codec: 'G722', clockRate: 8000, channels: 1 }],
  [10, { codec: 'L16', clockRate: 44100, channels: 2 }],
  [11, { codec: 'L16', clockRate: 44100, channels: 1 }],
  [12, { codec: 'QCELP', clockRate: 8000, channels: 1 }],
  [14, { codec: 'MPA', clockRate: 90000, channels: 1 }],
  [15, { codec: 'G728', clockRate: 8000, channels: 1 }],
  [18, { codec: 'G729', clockRate: 8000, channels: 1 }],
  [26, { codec: 'JPEG', clockRate: 90000, channels: 1 }],
  [31, { codec: 'H261', clockRate: 90000, channels: 1 }],
  [32, { codec: 'MPV', clockRate: 90000, channels: 1 }],
  [33, { codec: 'MP2T', clockRate: 90000, channels: 1 }],
  [34, { codec: 'H263', clockRate: 90000, channels: 1 }],
])

/** Maximum number of media sections: a camera has a handful. */
const maxTracks = 16
/** Pattern of the lines that are parsed, and maximum number of these lines. */
const readLine =
  /m=|a=(?:x-dimensions:|framesize:\d|rtpmap:\d|fmtp:\d|control:|crypto:|key-mgmt:|sendrecv|sendonly|recvonly|inactive)/y
const maxLines = 256
/** Maximum length of a control attribute in characters. Tracks with a longer attribute are skipped. */
const maxControl = 1_024
/** Upper limits of clock rates, in Hz. */
const fastestClock = { video: 100_000_000, audio: 192_000 } as const
const maxChannels = 8

/** Maximum number of formats per section. */
const maxFormats = 8

/**
 * Parses the SDP of a camera. Invalid parts are skipped without an error, and numbers are range-checked. Unused lines
 * are not parsed.
 */
export function parseDescription(text: string): RtspDescription {
  const session = parse(usedLines(plainDescription(text), readLine, maxLines))
  const sections: Partial<Section>[] = [session as Partial<Section>, ...(session.media ?? [])]
  // Some cameras write lines of one section at the end of another.
  const everywhere = {
    rtp: sections.flatMap(({ rtp }) => rtp ?? []),
    fmtp: sections.flatMap(({ fmtp }) => fmtp ?? []),
  }
  const tracks = (session.media ?? []).slice(0, maxTracks).flatMap((media): RtspTrack[] => {
    if (media.type !== 'video' && media.type !== 'audio') return []
    const kind: RtspTrack['kind'] = media.type
    const { direction } = media
    const encrypted = isEncrypted(media) ? { encrypted: true } : {}
    const control = controlOf(media)
    if (control.length > maxControl) return []
    const types = textOf(media.payloads ?? '').split(' ', maxFormats)
    const numbers = types.map((type) => inRange(Number.parseInt(type, 10), 0, 127))
    // Some cameras describe the only format under a payload type that differs from the media line.
    if (numbers.length === 1 && !isDescribed(numbers[0], everywhere))
      numbers.push(...media.rtp.slice(0, 1).map(({ payload }) => inRange(payload, 0, 127)))
    const formats = [...new Set(numbers)]
      .filter((type) => type !== undefined)
      .map((type) => ({ kind, control, direction, ...encrypted, ...formatOf(type, kind, media, everywhere) }))
    const size = sizeOf(media)
    if (size !== '') for (const { parameters } of formats) parameters.set(sizeParameter, size)
    const [first, ...others] = formats
    if (first === undefined) return []
    const alternatives = others.filter(({ codec }) => codec !== '')
    return [alternatives.length === 0 ? first : { ...first, alternatives }]
  })
  const control = controlOf(session)
  return { control: control.length > maxControl ? '' : control, tracks }
}

type Section = Pick<MediaAttributes, 'rtp' | 'fmtp'>

/** Whether the description defines a payload type. */
function isDescribed(payloadType: number | undefined, { rtp }: Section): boolean {
  return payloadType === undefined || staticTypes.has(payloadType) || rtp.some(({ payload }) => payload === payloadType)
}

/** Returns the format of a payload type, from the lines of its section, or otherwise of any other section. */
function formatOf(payloadType: number, kind: RtspTrack['kind'], section: Partial<Section>, everywhere: Section) {
  const ofType = <Line extends { payload: number }>(lines: readonly Line[] = []): Line[] =>
    lines.filter(({ payload }) => payload === payloadType)
  const ownOrOther = <Line extends { payload: number }>(
    own: readonly Line[] | undefined,
    all: readonly Line[],
  ): Line[] => {
    const found = ofType(own)
    if (found.length > 0) return found
    const others = ofType(all)
    // The only line of a section describes the section's only format, even under another payload type. Exception: that
    // payload type belongs to another format.
    const isOther = own?.length !== 1 || isDescribed(own[0]?.payload, everywhere)
    return own?.length === 1 && (!isDescribed(payloadType, everywhere) || (others.length === 0 && !isOther))
      ? [...own]
      : others
  }
  const known = staticTypes.get(payloadType)
  // A static payload type has one meaning in all sections, so a line in another section describes another track.
  const [map] = known === undefined ? ownOrOther(section.rtp, everywhere.rtp) : ofType(section.rtp)
  return {
    payloadType,
    codec: map === undefined ? (known?.codec ?? '') : registeredCodec(textOf(map.codec).slice(0, maxCodec)),
    ...clocksOf(numberOf(map?.rate ?? known?.clockRate ?? 0) || (map === undefined ? 0 : assumedClock[kind]), kind),
    channels: inRange(numberOf(map?.encoding ?? known?.channels ?? 1), 1, maxChannels) ?? 0,
    parameters: formatParameters(ownOrOther(section.fmtp, everywhere.fmtp).map(({ config }) => textOf(config))),
  }
}

/** Returns the clocks of a format that is described with `rate`. */
function clocksOf(rate: number, kind: RtspTrack['kind']): Pick<RtspTrack, 'clockRate' | 'declaredClock'> {
  const declared = inRange(rate, 1, fastestClock[kind]) ?? 0
  if (kind === 'audio' || declared === 0 || declared === assumedClock.video) return { clockRate: declared }
  return { clockRate: assumedClock.video, declaredClock: declared }
}

/**
 * Whether a section has an encryption key for its packets (RFC 4568, RFC 4567). Some cameras declare the SRTP protocol
 * but send plain packets.
 */
function isEncrypted({ protocol, crypto = [], invalid = [] }: Partial<MediaDescription>): boolean {
  const hasKey = crypto.length > 0 || invalid.some(({ value }) => /^key-mgmt:/i.test(value))
  return hasKey && /SAVP/i.test(textOf(protocol ?? ''))
}

/** Parameter name under which the size from `a=x-dimensions` or `a=framesize` is stored. */
export const sizeParameter = 'x-dimensions'

/** Returns the picture size from attributes that `sdp-transform` does not parse; empty: none. */
function sizeOf({ invalid = [] }: { invalid?: readonly { value: string }[] }): string {
  for (const { value } of invalid) {
    const size = /^(?:x-dimensions:|framesize:\d{1,3} )\s*(\S{1,12})/i.exec(value)?.[1]
    if (size !== undefined) return size
  }
  return ''
}

const maxCodec = 32

function inRange(value: number, min: number, max: number): number | undefined {
  return value >= min && value <= max ? value : undefined
}

function controlOf(section: object): string {
  const control = 'control' in section ? section.control : ''
  return typeof control === 'string' || typeof control === 'number' ? textOf(control).trim() : ''
}

/** Maximum number of format parameters per track. */
const maxParameters = 64

function formatParameters(lines: readonly string[]): Map<string, string> {
  const parameters = new Map<string, string>()
  for (const part of lines.flatMap((line) => line.split(';', maxParameters)).slice(0, maxParameters)) {
    const equals = part.indexOf('=')
    if (equals > 0) parameters.set(part.slice(0, equals).trim().toLowerCase(), part.slice(equals + 1).trim())
  }
  return parameters
}
