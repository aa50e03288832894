import { parse, parseSimulcastStreamList } from 'sdp-transform'
import { Problem } from '../base/problem.ts'
import { usedLines } from './sdp-lines.ts'
import { textOf } from './sdp-value.ts'
import type { AudioFormat, VideoFormat } from '../feeds/feed-format.ts'
import { CandidatePolicy, candidateStart } from './candidate-policy.ts'
import { usableCandidate } from './candidates.ts'
import type { IceCredentials } from './stun.ts'

/** A codec that a browser offers for one of its media sections. */
export interface OfferedCodec {
  payloadType: number
  /** In upper case. */
  name: string
  /** Name, clock rate and channels as an rtpmap line has them, e.g. `opus/48000/2`. */
  encoding: string
  /** Format parameters as offered. */
  parameters: string
  /** Its receiver may report on the transport as a whole: `transport-cc`. */
  transportFeedback: boolean
}

/** A media section of an offer. */
export interface OfferedMedia {
  kind: 'video' | 'audio'
  mid: string
  direction: 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive'
  /** The preferred one first. */
  codecs: OfferedCodec[]
  /** Header extensions by their URI: the number that each has in packets, 1 to 14 (RFC 8285, section 4.2). */
  extensions: ReadonlyMap<string, number>
  /** It measures the round trip where it only receives, when its reference times are answered: `rcvr-rtt` (RFC 3611, section 5.1). */
  measuresRoundTrip: boolean
  /** Names of the streams of one picture that it sends in several sizes (RFC 8853), as the offer orders them; empty where it sends one. */
  rids: string[]
}

/** A section of an offer, whatever it carries. */
export interface OfferedSection {
  /** `audio`, `video`, `application` and so on. */
  type: string
  protocol: string
  /** Formats in the media line, behind the protocol. */
  formats: string
  media: OfferedMedia | undefined
}

/** Content of a browser's offer. */
export interface Offer {
  /** For the peer connection: with candidates that the node can use, and with the browser as the one that begins DTLS. */
  sdp: string
  /** In the order of the offer. */
  sections: OfferedSection[]
  /** Those of `sections` that carry sound or picture. */
  media: OfferedMedia[]
  /** Ids of all media sections, those without sound or picture too. */
  mids: string[]
  /** Credentials of the browser in the ICE session that the offer begins; the user fragment names it. */
  ice: IceCredentials
  /** Address that it came from; empty when unknown. */
  client: string
  /** Limits the addresses that the node calls for this session. */
  candidates: CandidatePolicy
}

const maxSections = 16
/** Lines that are read, and most of them: a browser with every codec writes some 100 of them for a section. */
const readLine =
  /m=|a=(?:mid:|ice-ufrag:|ice-pwd:|rtpmap:\d|fmtp:\d|rtcp-fb:|rtcp-xr:|extmap:\d|rid:|simulcast:|(?:sendrecv|sendonly|recvonly|inactive)[ \r]*$)/my
const maxLines = 1_000
/** Most lines altogether. */
const maxLinesOfAll = 4_000
/** Payload types of one section: there are no more (RFC 3550, section 5.1). */
const maxCodecs = 128

/** Streams of one picture that are read, and the characters that a name of one may have (RFC 8851, section 10). */
const maxRids = 16
const ridName = /^[A-Za-z0-9_-]{1,16}$/

/**
 * @param client address that the offer came from; empty when unknown
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
  if (new Set(media.map(({ mid }) => mid)).size !== media.length) throw new Problem('badOffer', 'A mid is there twice.')
  const fragment = session.iceUfrag ?? sections.find(({ iceUfrag }) => iceUfrag !== undefined)?.iceUfrag
  if (fragment === undefined) throw new Problem('badOffer', 'The offer has no ICE user fragment.')
  const password = session.icePwd ?? sections.find(({ icePwd }) => icePwd !== undefined)?.icePwd ?? ''
  const candidates = new CandidatePolicy(client)
  const lines = all
    .flatMap((line) => usableCandidate(line, client) ?? [])
    .filter((line) => !candidateStart.test(line) || candidates.accepts(line))
    // The browser begins DTLS (RFC 9725, section 4.2): it repeats a lost first message after 50 ms, the library after a second.
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

/** Payload types that need no description (RFC 3551, section 6). */
const staticTypes: ReadonlyMap<number, string> = new Map([
  [0, 'PCMU/8000'],
  [8, 'PCMA/8000'],
  [9, 'G722/8000'],
])

type Section = ReturnType<typeof parse>['media'][number]

/** In the order of the media line, which is that of preference (RFC 8866, section 5.14). */
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

/** `sdp-transform` does not know the attribute. */
function measuresRoundTrip({ invalid = [] }: Section): boolean {
  return invalid.some(({ value }) => /^rtcp-xr:(?:.* )?rcvr-rtt=(?:all|sender)(?:[: ]|$)/.test(value))
}

/** Those with a header of one byte. */
function extensionsOf({ ext = [] }: Section): Map<string, number> {
  const usable = ext.filter(({ value }) => value >= 1 && value <= 14)
  return new Map(usable.map(({ uri, value }) => [textOf(uri), value]))
}

/** RIDs of the sent streams, the first alternative each (RFC 8853, section 5.1); one without a line of its own does not count. */
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

/** The offered codec for a feed's video, its profile matched as well as can be; undefined when it is not offered. */
export function videoCodecFor(media: OfferedMedia, { codec, profileLevelId }: VideoFormat): OfferedCodec | undefined {
  const offered = media.codecs.filter(({ name }) => name === codec)
  if (codec !== 'H264') return offered[0]
  const inFragments = offered.filter(({ parameters }) => parameters.includes('packetization-mode=1'))
  // Without it, a receiver asks for single units; those in the field take fragments all the same.
  const usable =
    inFragments.length > 0
      ? inFragments
      : offered.filter(({ parameters }) => !parameters.includes('packetization-mode=2'))
  const starting = (digits: string) =>
    usable.find(({ parameters }) => profileOf(parameters).startsWith(digits.toLowerCase()))
  return starting(profileLevelId.slice(0, 4)) ?? starting(profileLevelId.slice(0, 2)) ?? usable[0]
}

/** The offered codec for a feed's audio; undefined when it is not offered. */
export function audioCodecFor(media: OfferedMedia, { codec }: AudioFormat): OfferedCodec | undefined {
  return media.codecs.find(({ name }) => name === codec)
}

/** Video that the node takes from a publisher: the first supported codec of the offer, VP8 or H.264; undefined when there is none. */
export function publishedVideo(media: OfferedMedia): { codec: OfferedCodec; format: VideoFormat } | undefined {
  for (const { name } of media.codecs) {
    if (name !== 'VP8' && name !== 'H264') continue
    // The profile that every browser decodes, if it is offered.
    const format: VideoFormat = { codec: name, profileLevelId: name === 'H264' ? '42e0' : '', parameterSets: '' }
    const codec = videoCodecFor(media, format)
    if (codec === undefined) continue
    const parameterSets = /sprop-parameter-sets=([A-Za-z0-9+/=,]+)/i.exec(codec.parameters)?.[1] ?? ''
    return { codec, format: { ...format, parameterSets, profileLevelId: profileOf(codec.parameters) } }
  }
  return undefined
}

/** The first of Opus and G.711 in the offer. */
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
