import { parse, parseSimulcastStreamList } from 'sdp-transform'
import { Problem } from '../base/problem.ts'
import type { AudioFormat, VideoFormat } from '../feeds/feed-tracks.ts'
import { CandidatePolicy, candidateStart, usableCandidate } from './candidates.ts'
import { textOf, usedLines } from '../base/sdp-text.ts'
import type { IceCredentials } from './stun.ts'

/** A codec that a browser offers for one of its media sections. */
export interface OfferedCodec {
  payloadType: number
  /** Encoding name in upper case. */
  name: string
  /** Name, clock rate and channels as in an rtpmap line, e.g. `opus/48000/2`. */
  encoding: string
  /** Format parameters as offered. */
  parameters: string
  /** Whether the receiver can report on the transport as a whole: `transport-cc`. */
  transportFeedback: boolean
}

/** A media section of an offer. */
export interface OfferedMedia {
  kind: 'video' | 'audio'
  mid: string
  direction: 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive'
  /** Codecs in order of preference. */
  codecs: OfferedCodec[]
  /** Numbers of the header extensions in packets, by URI, 1 to 14 (RFC 8285, section 4.2). */
  extensions: ReadonlyMap<string, number>
  /**
   * Whether the browser measures the round trip as a pure receiver from answers to its reference times: `rcvr-rtt` (RFC
   * 3611, section 5.1).
   */
  measuresRoundTrip: boolean
  /**
   * RIDs of the simulcast layers (RFC 8853), in the order of the offer; empty: the picture is
   * sent in one size.
   */
  rids: string[]
}

/** Any section of an offer, with or without media. */
export interface OfferedSection {
  type: string
  protocol: string
  /** Formats in the media line, after the protocol. */
  formats: string
  media: OfferedMedia | undefined
}

/** A parsed offer of a browser. */
export interface Offer {
  /**
   * Session description for the peer connection, with candidates that the node can use and the browser as the DTLS
   * client.
   */
  sdp: string
  /** Sections in the order of the offer. */
  sections: OfferedSection[]
  /** The entries of `sections` that carry sound or picture. */
  media: OfferedMedia[]
  /** Ids of all sections, including those without sound or picture. */
  mids: string[]
  /** The browser's credentials in the ICE session that the offer begins. */
  ice: IceCredentials
  /** Source address of the offer; empty when unknown. */
  client: string
  /** Limits the addresses that the node sends checks to in this session. */
  candidates: CandidatePolicy
}

const maxSections = 16
/** Lines that are parsed, and their maximum number. A browser with every codec writes about 100 of them per section. */
const readLine =
  /m=|a=(?:mid:|ice-ufrag:|ice-pwd:|rtpmap:\d|fmtp:\d|rtcp-fb:|rtcp-xr:|extmap:\d|rid:|simulcast:|(?:sendrecv|sendonly|recvonly|inactive)[ \r]*$)/my
const maxLines = 1_000
/** Maximum number of lines in total. */
const maxLinesOfAll = 4_000
/** Maximum number of payload types per section (RFC 3550, section 5.1). */
const maxCodecs = 128

/** Maximum number of simulcast layers of a video track, and the syntax of a RID (RFC 8851, section 10). */
const maxRids = 16
const ridName = /^[A-Za-z0-9_-]{1,16}$/

/**
 * Parses an offer.
 * @param client source address of the offer; empty when unknown
 * @throws Problem badOffer
 */
export function parseOffer(sdp: string, client = ''): Offer {
  const all = sdp.split(/\r?\n/, maxLinesOfAll + 1)
  if (all.length > maxLinesOfAll) throw new Problem('badOffer', 'The offer has too many lines.')
  const session = parseSafely(sdp)
  const sections = session.media
  if (sections.length === 0 || sections.length > maxSections) throw new Problem('badOffer')
  const read = sections.map((section): OfferedSection => {
    const { type, protocol, payloads = '' } = section
    return { type, protocol, formats: textOf(payloads), media: mediaOf(section) }
  })
  const media = read.flatMap(({ media: each }) => each ?? [])
  if (new Set(media.map(({ mid }) => mid)).size !== media.length)
    throw new Problem('badOffer', 'Two media sections have the same mid.')
  const fragment = session.iceUfrag ?? sections.find(({ iceUfrag }) => iceUfrag !== undefined)?.iceUfrag
  if (fragment === undefined) throw new Problem('badOffer', 'The offer has no ICE user fragment.')
  const password = session.icePwd ?? sections.find(({ icePwd }) => icePwd !== undefined)?.icePwd ?? ''
  const candidates = new CandidatePolicy(client)
  const lines = all
    .flatMap((line) => usableCandidate(line, client) ?? [])
    .filter((line) => !candidateStart.test(line) || candidates.accepts(line))
    // The browser is the DTLS client (RFC 9725, section 4.2): it repeats a lost first message after 50 ms, the library
    // only after a second.
    .map((line) => (line === 'a=setup:actpass' ? 'a=setup:active' : line))
  const mids = sections.flatMap(({ mid }) => (mid === undefined ? [] : [textOf(mid)]))
  return {
    sdp: lines.join('\r\n'),
    sections: read,
    media,
    mids,
    ice: { userFragment: textOf(fragment), password: textOf(password) },
    client,
    candidates,
  }
}

/** Static payload types, which need no rtpmap line (RFC 3551, section 6). */
const staticTypes: ReadonlyMap<number, string> = new Map([
  [0, 'PCMU/8000'],
  [8, 'PCMA/8000'],
  [9, 'G722/8000'],
])

type Section = ReturnType<typeof parse>['media'][number]

/** Returns codecs in the order of the media line, which is the order of preference (RFC 8866, section 5.14). */
function codecsOf({ payloads = '', rtp, fmtp, rtcpFb = [] }: Section): OfferedCodec[] {
  const types = textOf(payloads).split(' ', maxCodecs).map(Number)
  const reporting = new Set(
    rtcpFb.flatMap(({ payload, type }) => (textOf(type) === 'transport-cc' ? [String(payload)] : [])),
  )
  return types.flatMap((payloadType): OfferedCodec[] => {
    const map = rtp.find(({ payload }) => payload === payloadType)
    const known = staticTypes.get(payloadType)
    if (map === undefined && known === undefined) return []
    const encoding =
      map === undefined
        ? (known ?? '')
        : [map.codec, map.rate, map.encoding].filter((part) => part !== undefined).join('/')
    const name = (encoding.split('/', 1)[0] ?? '').toUpperCase()
    const parameters = textOf(fmtp.find(({ payload }) => payload === payloadType)?.config ?? '')
    const transportFeedback = reporting.has(String(payloadType)) || reporting.has('*')
    return [{ payloadType, name, encoding, parameters, transportFeedback }]
  })
}

/** @throws Problem badOffer */
function mediaOf(section: Section): OfferedMedia | undefined {
  const { type: kind, mid, direction = 'sendrecv' } = section
  if (kind !== 'video' && kind !== 'audio') return undefined
  if (mid === undefined) throw new Problem('badOffer', 'A media section has no mid.')
  const extensions = extensionsOf(section)
  return {
    kind,
    mid: textOf(mid),
    direction,
    codecs: codecsOf(section),
    extensions,
    measuresRoundTrip: measuresRoundTrip(section),
    rids: ridsOf(section),
  }
}

/** Returns whether a section offers `rcvr-rtt`. `sdp-transform` does not parse the attribute. */
function measuresRoundTrip({ invalid = [] }: Section): boolean {
  return invalid.some(({ value }) => /^rtcp-xr:(?:.* )?rcvr-rtt=(?:all|sender)(?:[: ]|$)/.test(value))
}

/** Returns the extensions that fit a one-byte header. */
function extensionsOf({ ext = [] }: Section): Map<string, number> {
  const usable = ext.filter(({ value }) => value >= 1 && value <= 14)
  return new Map(usable.map(({ uri, value }) => [textOf(uri), value]))
}

/**
 * Returns the RIDs of the sent streams, the first alternative of each (RFC 8853, section 5.1). RIDs without an `a=rid`
 * line are ignored.
 */
function ridsOf({ rids = [], simulcast }: Section): string[] {
  if (simulcast === undefined) return []
  const { dir1, list1, dir2, list2 } = simulcast
  const list = dir1 === 'send' ? list1 : dir2 === 'send' ? list2 : undefined
  if (list === undefined) return []
  const announced = new Set(
    rids.slice(0, maxRids).flatMap(({ id, direction }) => (textOf(direction) === 'send' ? [textOf(id)] : [])),
  )
  const named = parseSimulcastStreamList(textOf(list)).flatMap(([first]) =>
    first === undefined ? [] : textOf(first.scid),
  )
  return [...new Set(named)].filter((rid) => ridName.test(rid) && announced.has(rid))
}

function parseSafely(sdp: string): ReturnType<typeof parse> {
  try {
    return parse(usedLines(sdp, readLine, maxLines))
  } catch {
    throw new Problem('badOffer')
  }
}

/**
 * Returns the offered codec for a feed's video with the best matching profile; undefined if the codec is not offered.
 */
export function videoCodecFor(media: OfferedMedia, { codec, profileLevelId }: VideoFormat): OfferedCodec | undefined {
  const offered = media.codecs.filter(({ name }) => name === codec)
  if (codec !== 'H264') return offered[0]
  const inFragments = offered.filter(({ parameters }) => parameters.includes('packetization-mode=1'))
  // Without packetization-mode=1 a receiver requests single NAL units. In practice, receivers accept fragments as well.
  const usable =
    inFragments.length > 0
      ? inFragments
      : offered.filter(({ parameters }) => !parameters.includes('packetization-mode=2'))
  const starting = (digits: string) =>
    usable.find(({ parameters }) => profileOf(parameters).startsWith(digits.toLowerCase()))
  return starting(profileLevelId.slice(0, 4)) ?? starting(profileLevelId.slice(0, 2)) ?? usable[0]
}

/** Returns the offered codec for a feed's audio; undefined if it is not offered. */
export function audioCodecFor(media: OfferedMedia, { codec }: AudioFormat): OfferedCodec | undefined {
  return media.codecs.find(({ name }) => name === codec)
}

/** Returns the first supported video codec of the offer, VP8 or H.264; undefined if the offer has neither. */
export function publishedVideo(media: OfferedMedia): { codec: OfferedCodec; format: VideoFormat } | undefined {
  for (const { name } of media.codecs) {
    if (name !== 'VP8' && name !== 'H264') continue
    // Prefers the profile that every browser decodes.
    const format: VideoFormat = { codec: name, profileLevelId: name === 'H264' ? '42e0' : '', parameterSets: '' }
    const codec = videoCodecFor(media, format)
    if (codec === undefined) continue
    const parameterSets = /sprop-parameter-sets=([A-Za-z0-9+/=,]+)/i.exec(codec.parameters)?.[1] ?? ''
    return { codec, format: { ...format, parameterSets, profileLevelId: profileOf(codec.parameters) } }
  }
  return undefined
}

/** Returns the first of Opus and G.711 in the offer; undefined if it has neither. */
export function publishedAudio(media: OfferedMedia): { codec: OfferedCodec; format: AudioFormat } | undefined {
  for (const codec of media.codecs) {
    const { name } = codec
    if (name === 'OPUS') return { codec, format: { codec: name, clockRate: 48_000 } }
    if (name === 'PCMU' || name === 'PCMA') return { codec, format: { codec: name, clockRate: 8_000 } }
  }
  return undefined
}

function profileOf(parameters: string): string {
  return /profile-level-id=([0-9a-f]{6})/i.exec(parameters)?.[1]?.toLowerCase() ?? ''
}
