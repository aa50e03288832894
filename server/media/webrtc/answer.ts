import ndc, { type Audio, type Video } from 'node-datachannel'
import type { Offer, OfferedCodec, OfferedMedia, OfferedSection } from './offer.ts'

/**
 * Answers to offers. The library writes a viewer's answer, from one section for each section of the offer.
 *
 * A publisher's media arrives on one transport (BUNDLE, RFC 8843). The library separates its sections by the SSRCs of
 * the offer and drops unknown SSRCs. An offer names no SSRCs for a picture in several sizes (RFC 8853). A connection
 * with one section gets every packet, so the library gets one section and this module writes the answer to the original
 * offer.
 */

/** URI of the header extension with the RID of a stream (RFC 8852, section 3.1). */
export const streamIdUri = 'urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id'
/** URI of the header extension with the `mid` of a media section (RFC 9143, section 15.1). */
export const sectionIdUri = 'urn:ietf:params:rtp-hdrext:sdes:mid'

/** Placeholder for the single section that replaces all sections. The library ignores its codec. */
export const wholeTransport = { kind: 'audio', payloadType: 0, name: 'PCMU' } as const

const transportLine = /^a=(?:ice-ufrag|ice-pwd|ice-options|fingerprint|setup|candidate|end-of-candidates)/
const sessionLine = /^(?:v|o|s|t)=/

/** Returns the section of an answer that sends one codec, as it was offered. */
export function sendingSection(
  { kind, mid }: OfferedMedia,
  { payloadType, name, parameters }: OfferedCodec,
): Audio | Video {
  // The library treats an undefined argument as invalid.
  const profile: [] | [string] = parameters === '' ? [] : [parameters]
  if (kind === 'audio') {
    const audio = new ndc.Audio(mid, 'SendOnly')
    if (name === 'OPUS') audio.addOpusCodec(payloadType, ...profile)
    else audio.addAudioCodec(payloadType, name)
    return audio
  }
  const video = new ndc.Video(mid, 'SendOnly')
  if (name === 'H264') video.addH264Codec(payloadType, ...profile)
  else if (name === 'VP8') video.addVP8Codec(payloadType)
  else video.addVideoCodec(payloadType, name, ...profile)
  return video
}

/** Returns an inactive section for a part of an offer that is not used, with its first codec as offered. */
export function silentSection({ kind, mid, codecs: [first] }: OfferedMedia): Audio | Video {
  if (kind === 'video') {
    const video = new ndc.Video(mid, 'Inactive')
    video.addVideoCodec(first?.payloadType ?? 96, first?.encoding ?? 'VP8')
    return video
  }
  const audio = new ndc.Audio(mid, 'Inactive')
  audio.addAudioCodec(first?.payloadType ?? 0, first?.encoding ?? 'PCMU')
  return audio
}

/** Returns the only section of a connection, which receives every packet of the connection. */
export function receivingSection(mid: string, { payloadType, name }: { payloadType: number; name: string }): Audio {
  const audio = new ndc.Audio(mid, 'RecvOnly')
  audio.addAudioCodec(payloadType, name)
  return audio
}

/** Answer to one section of an offer. */
export interface AnsweredSection {
  codec: OfferedCodec
  /** URIs of the accepted header extensions. URIs that were not offered are left out of the answer. */
  extensions: readonly string[]
  /** Kinds of feedback (RFC 4585, section 4.2) that are sent. */
  feedback: readonly string[]
  /** Accepted streams of the picture (RFC 8853); empty if the picture has one stream only. */
  rids: readonly string[]
}

/** Returns the offer with a single section in place of all its sections. */
export function bundledOffer({ sdp, media }: Pick<Offer, 'sdp' | 'media'>): string {
  const [session = '', first = '', ...others] = sdp.split(/^(?=m=)/m)
  const own = first.split('\r\n').filter((line) => transportLine.test(line))
  const more = others.flatMap((section) => section.split('\r\n').filter((line) => line.startsWith('a=candidate:')))
  const mid = media[0]?.mid ?? '0'
  return [
    ...session.split('\r\n').filter((line) => sessionLine.test(line) || transportLine.test(line)),
    `a=group:BUNDLE ${mid}`,
    `m=${wholeTransport.kind} 9 UDP/TLS/RTP/SAVPF ${wholeTransport.payloadType}`,
    'c=IN IP4 0.0.0.0',
    `a=mid:${mid}`,
    'a=sendonly',
    'a=rtcp-mux',
    `a=rtpmap:${wholeTransport.payloadType} ${wholeTransport.name}/8000`,
    ...own,
    ...more,
    '',
  ].join('\r\n')
}

/**
 * Returns the answer to an offer, in which the sections in `taken` are accepted.
 * @param transport the library's answer to the offer with a single section
 */
export function bundledAnswer(
  { sections }: Pick<Offer, 'sections'>,
  taken: ReadonlyMap<OfferedMedia, AnsweredSection>,
  transport: string,
): string {
  const lines = transport.split('\r\n').filter((line) => transportLine.test(line))
  const candidates = lines.filter((line) => /^a=(?:candidate|end-of-candidates)/.test(line))
  const shared = lines.filter((line) => !candidates.includes(line))
  // Candidates belong to the first section of the bundle (RFC 9143, section 7.3.1).
  const firstMedia = sections.find(({ media }) => media !== undefined)
  const mids = sections.flatMap(({ media }) => media?.mid ?? [])
  return [
    ...transport.split('\r\n').filter((line) => sessionLine.test(line)),
    `a=group:BUNDLE ${mids.join(' ')}`,
    ...sections.flatMap((section) => [
      ...sectionLines(section, taken),
      ...(section.media === undefined ? [] : shared),
      ...(section === firstMedia ? candidates : []),
    ]),
    '',
  ].join('\r\n')
}

function sectionLines(
  { type, protocol, formats, media }: OfferedSection,
  taken: ReadonlyMap<OfferedMedia, AnsweredSection>,
): string[] {
  if (media === undefined) return [`m=${type} 0 ${protocol} ${formats}`, 'c=IN IP4 0.0.0.0', 'a=inactive']
  const answered = taken.get(media)
  const codec = answered?.codec ?? media.codecs[0] ?? { payloadType: 0, encoding: 'PCMU/8000', parameters: '' }
  const { payloadType, encoding, parameters } = codec
  const head = [
    `m=${type} 9 ${protocol} ${payloadType}`,
    'c=IN IP4 0.0.0.0',
    `a=mid:${media.mid}`,
    answered === undefined ? 'a=inactive' : 'a=recvonly',
    'a=rtcp-mux',
    `a=rtpmap:${payloadType} ${encoding}`,
  ]
  if (answered === undefined) return head
  const { extensions, feedback, rids } = answered
  return [
    ...head,
    ...feedback.map((kind) => `a=rtcp-fb:${payloadType} ${kind}`),
    ...(parameters === '' ? [] : [`a=fmtp:${payloadType} ${parameters}`]),
    ...extensions.flatMap((uri) => extensionLine(media, uri)),
    ...rids.map((rid) => `a=rid:${rid} recv`),
    ...(rids.length === 0 ? [] : [`a=simulcast:recv ${rids.join(';')}`]),
  ]
}

function extensionLine({ extensions }: OfferedMedia, uri: string): string[] {
  const id = extensions.get(uri)
  return id === undefined ? [] : [`a=extmap:${id} ${uri}`]
}
