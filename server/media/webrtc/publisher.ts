import type { Track } from 'node-datachannel'
import { Feed } from '../feeds/feed.ts'
import type { AudioFormat, VideoFormat } from '../feeds/feed-tracks.ts'
import type { RawFormat } from '../feeds/raw-tap.ts'
import { Problem } from '../base/problem.ts'
import { Layers } from '../feeds/picture-streams.ts'
import { SenderClock } from '../feeds/stream-clock.ts'
import {
  audioLevelOf,
  audioLevelUri,
  clearFalsePadding,
  hasMarker,
  isRtcp,
  isRtp,
  sourcePadding,
} from '../rtp/packet.ts'
import { CleanPictures } from '../clean/clean-pictures.ts'
import { beginsPicture } from '../rtp/key-frame.ts'
import { parameterSetsOf } from '../rtp/nal-units.ts'
import { eachClockPoint } from '../rtp/rtcp.ts'
import { transportSequenceUri } from '../rtp/transport-feedback.ts'
import { lateShortcoming, parameterObstacle, codecName, unsupportedReasonOf } from '../rtsp/codec-support.ts'
import { sentParameters } from '../rtsp/resolution.ts'
import { type IncomingStream, IncomingStreams } from './incoming-streams.ts'
import { type Offer, type OfferedCodec, type OfferedMedia, publishedAudio, publishedVideo } from './offer.ts'
import { Peer, type PeerSettings } from './peer.ts'
import { PublisherFeedback } from './publisher-feedback.ts'
import {
  type AnsweredSection,
  bundledAnswer,
  bundledOffer,
  receivingSection,
  sectionIdUri,
  streamIdUri,
  wholeTransport,
} from './answer.ts'
import type { Shortcoming } from '../../../shared/media/transcoding.ts'

/** Formats that are not media codecs: retransmission, redundancy, comfort noise and dialed digits. */
const secondary = new Set(['RTX', 'RED', 'ULPFEC', 'FLEXFEC-03', 'CN', 'TELEPHONE-EVENT'])

const reportEveryMs = 1_000
/** Silence, in milliseconds, after which a publisher has left, unless `mayStall` reports that it is present. */
const stallMs = 10_000
/** Maximum number of accepted simulcast layers of a video track. */
const maxLayers = 3
const videoFeedback = ['nack', 'nack pli', 'goog-remb'] as const

/** Accepted part of an offer. */
interface Taken<Format> {
  media: OfferedMedia
  codec: OfferedCodec
  format: Format
}

interface VideoStream {
  feed: Feed
  /** RID of the layer; undefined: the picture has one stream only. */
  rid: string | undefined
  stream: IncomingStream | undefined
}

/** One browser that publishes (WHIP). */
export class Publisher {
  readonly peer: Peer
  readonly feed: Feed
  readonly #video: Taken<VideoFormat> | undefined
  readonly #audio: Taken<AudioFormat> | undefined
  readonly #feedback: PublisherFeedback
  readonly #streams = new IncomingStreams()
  readonly #videoStreams: VideoStream[] = []
  readonly #mayStall: () => boolean
  /**
   * Time of the last received packet on the monotonic clock, because changing the system clock must not end sessions;
   * 0: none yet.
   */
  #receivedAt = 0

  /**
   * @param maxBitsPerSecond maximum rate limit sent to the browser
   * @param mayStall returns whether the person is known to be present, so that a pause does not end the connection
   * @param onClosed called once when the publisher ends, for any reason
   * @throws Problem codec if the offer's video, or all of its media, is unsupported; busy
   */
  constructor(
    offer: Offer,
    settings: PeerSettings,
    maxBitsPerSecond: number,
    mayStall: () => boolean,
    onClosed: () => void,
  ) {
    this.#mayStall = mayStall
    this.#video = firstOf(offer, 'video', publishedVideo)
    this.#audio = firstOf(offer, 'audio', publishedAudio)
    if (this.#video === undefined) refuseUntaken(offer)
    if (this.#video === undefined && this.#audio === undefined) {
      throw new Problem('codec', 'The offer has no video in VP8 or H.264 and no audio in Opus or G.711.')
    }
    this.feed = this.#makeFeed()
    this.feed.playback.shortcomings = publishedShortcomings(offer, this.#video?.format, this.#audio?.format)
    this.peer = new Peer('publisher', settings, () => {
      this.feed.end()
      for (const { feed } of this.#videoStreams) feed.end()
      onClosed()
    })
    this.peer.onMoved = () => this.#requestKeyFrames()
    this.#feedback = new PublisherFeedback(this.peer.lifetime, maxBitsPerSecond)
  }

  /** @throws Problem badOffer */
  async answer(offer: Offer): Promise<string> {
    // The track has no media handler: the node reads RTP and RTCP itself.
    const track = this.peer.addTrack(receivingSection(offer.media[0]?.mid ?? '0', wholeTransport), (message) =>
      this.#received(message),
    )
    const taken = new Map<OfferedMedia, AnsweredSection>()
    if (this.#video !== undefined) {
      const { media } = this.#video
      taken.set(media, this.#reported(media, this.#takeVideo(this.#video, track)))
    }
    if (this.#audio !== undefined) {
      const { media } = this.#audio
      taken.set(media, this.#reported(media, this.#takeAudio(this.#audio, track)))
    }
    this.peer.lifetime.every(reportEveryMs, () => this.#report())
    const transport = await this.peer.answer({ ...offer, sdp: bundledOffer(offer) })
    return bundledAnswer(offer, taken, transport)
  }

  /** Whether the publisher's audio packets carry a level (RFC 6464). */
  get tellsLevel(): boolean {
    return this.#audio?.media.extensions.has(audioLevelUri) === true
  }

  close(): void {
    this.peer.close()
  }

  /** Creates the feed. If the picture has layers, their feeds carry the picture instead. */
  #makeFeed(): Feed {
    const [video, audio, sender] = [this.#video?.format, this.#audio?.format, new SenderClock()]
    const shared = { video, cached: false, sender }
    const rawVideo = video && rawFormat(video.codec, 90_000)
    const rids = layersOf(this.#video?.media)
    for (const rid of rids) {
      const made: VideoStream = {
        rid,
        feed: new Feed({ ...shared, audio: undefined, requestKeyFrame: () => made.stream?.requestKeyFrame() }),
        stream: undefined,
      }
      made.feed.raw.video.format = rawVideo
      this.#videoStreams.push(made)
    }
    const layers = rids.length === 0 ? {} : { layers: new Layers(this.#videoStreams.map(({ feed }) => feed)) }
    const whole = new Feed({ ...shared, audio, requestKeyFrame: () => this.#requestKeyFrames(), ...layers })
    whole.raw.audio.format = audio && rawFormat(audio.codec, audio.clockRate)
    if (rids.length === 0 && video !== undefined) {
      whole.raw.video.format = rawVideo
      this.#videoStreams.push({ feed: whole, rid: undefined, stream: undefined })
    }
    return whole
  }

  #takeVideo({ media, codec, format }: Taken<VideoFormat>, track: Track): AnsweredSection {
    const ridExtension = media.extensions.get(streamIdUri) ?? 0
    const { layers } = this.feed
    for (const each of this.#videoStreams) {
      const { feed, rid } = each
      const stream = this.#feedback.addStream({
        kind: 'video',
        clockRate: 90_000,
        beginsPicture: (packet) => beginsPicture(format.codec, packet),
        track,
      })
      each.stream = stream
      let isLooked = format.codec !== 'H264'
      const pushVideo = (packet: Buffer): void => {
        if (!isLooked) isLooked = this.#look(packet)
        feed.raw.video.push(packet)
        feed.pushVideo(packet)
      }
      const clean = this.#cleanPictures(format, pushVideo)
      stream.lostPadding = (sequence, timestamp) =>
        clean(sourcePadding(stream.ssrc, codec.payloadType, sequence, timestamp))
      const push = (packet: Buffer): void => {
        clean(packet)
        if (layers !== undefined && hasMarker(packet)) layers.pictureCame(feed, Date.now())
      }
      this.#streams.add({ stream, feed, payloadType: codec.payloadType, rid, ridExtension, push })
    }
    const rids = this.#videoStreams.flatMap(({ rid }) => rid ?? [])
    return { codec, extensions: rids.length === 0 ? [] : [sectionIdUri, streamIdUri], feedback: videoFeedback, rids }
  }

  /**
   * Checks the first H.264 parameter sets for features that browsers do not support. Returns whether the packet has
   * parameter sets.
   */
  #look(packet: Buffer): boolean {
    const sets = sentParameters(packet)
    const { playback } = this.feed
    const reason = sets.map((parameters) => parameterObstacle(parameters)?.reason).find((each) => each !== undefined)
    if (reason !== undefined && !playback.shortcomings.some(({ kind }) => kind === 'video')) {
      playback.shortcomings = [lateShortcoming(reason, 'none'), ...playback.shortcomings]
    }
    return sets.length > 0
  }

  /** Returns a function that normalizes H.264, which encoders other than browsers pack in many ways. */
  #cleanPictures({ codec, parameterSets }: VideoFormat, emit: (packet: Buffer) => void): (packet: Buffer) => void {
    if (codec !== 'H264') return emit
    const after = (milliseconds: number, run: () => void): (() => void) => this.peer.lifetime.after(milliseconds, run)
    const pictures = new CleanPictures({ codec, described: parameterSetsOf(parameterSets), emit, after })
    return (packet) => pictures.push(packet)
  }

  #takeAudio({ media, codec, format }: Taken<AudioFormat>, track: Track): AnsweredSection {
    const stream = this.#feedback.addStream({ kind: 'audio', clockRate: format.clockRate, track })
    const { payloadType } = codec
    const levelId = media.extensions.get(audioLevelUri)
    const push = (packet: Buffer): void => {
      this.feed.raw.audio.push(packet)
      this.feed.pushAudio(packet, levelId === undefined ? -1 : audioLevelOf(packet, levelId))
    }
    this.#streams.add({ stream, feed: this.feed, payloadType, rid: undefined, ridExtension: 0, push })
    return { codec, extensions: levelId === undefined ? [] : [audioLevelUri], feedback: [], rids: [] }
  }

  /** Adds transport-wide arrival times to the feedback on accepted media, if the browser offers this. */
  #reported({ extensions }: OfferedMedia, answered: AnsweredSection): AnsweredSection {
    const id = answered.codec.transportFeedback ? extensions.get(transportSequenceUri) : undefined
    if (id === undefined) return answered
    // The number is the same in all sections of a bundle (RFC 9143, section 9.1).
    this.#feedback.transportExtension = id
    return {
      ...answered,
      extensions: [...answered.extensions, transportSequenceUri],
      feedback: [...answered.feedback, 'transport-cc'],
    }
  }

  #received(message: Buffer): void {
    const now = Date.now()
    this.#receivedAt = performance.now()
    if (isRtcp(message)) {
      eachClockPoint(message, (ssrc, point) => {
        const { stream, feed } = this.#streams.find(ssrc) ?? {}
        if (stream === undefined) return
        stream.reported(point, now)
        feed?.clock(stream.kind).reported(point, now)
        feed?.raw[stream.kind].report(point)
      })
    } else if (isRtp(message)) {
      clearFalsePadding(message)
      this.#feedback.arrived(message)
      this.#streams.received(message, now)
    }
  }

  #report(): void {
    const now = Date.now()
    if (this.#receivedAt !== 0 && performance.now() - this.#receivedAt > stallMs && !this.#mayStall())
      return this.close()
    this.#feedback.report(now)
  }

  #requestKeyFrames(): void {
    for (const { stream } of this.#videoStreams) stream?.requestKeyFrame()
  }
}

function rawFormat(codec: string, clockRate: number): RawFormat {
  return { codec, clockRate, channels: codec === 'OPUS' ? 2 : 1, parameters: new Map() }
}

/**
 * Rejects an offer whose picture is not supported. If only the sound were published, the sender would appear to be
 * visible.
 * @throws Problem codec
 */
function refuseUntaken(offer: Offer): void {
  const names = sentCodecs(offer, 'video')
  if (names.length === 0) return
  throw new Problem('codec', `The offer has video in ${names.join(', ')} only: set the encoder to H.264 or VP8.`)
}

/** Returns the first sent section of a kind with a supported codec. */
function firstOf<Format>(
  offer: Offer,
  kind: OfferedMedia['kind'],
  choose: (media: OfferedMedia) => { codec: OfferedCodec; format: Format } | undefined,
): Taken<Format> | undefined {
  for (const media of offer.media) {
    if (media.kind !== kind || media.direction === 'recvonly' || media.direction === 'inactive') continue
    const chosen = choose(media)
    if (chosen !== undefined) return { media, ...chosen }
  }
  return undefined
}

/** Returns the RIDs of accepted layers; none if packets do not carry the RID. */
function layersOf(media: OfferedMedia | undefined): string[] {
  if (media === undefined || !media.extensions.has(streamIdUri) || media.rids.length < 2) return []
  return media.rids.slice(0, maxLayers)
}

/** Returns the codecs of one kind that an offer sends. */
function sentCodecs(offer: Offer, kind: 'video' | 'audio'): string[] {
  const sent = offer.media.filter(
    (media) => media.kind === kind && media.direction !== 'recvonly' && media.direction !== 'inactive',
  )
  const names = sent.flatMap(({ codecs }) => codecs.map(({ name }) => name))
  return [...new Set(names)].filter((name) => !secondary.has(name))
}

/**
 * Lists tracks of an offer that are not received or not recorded. An offer with an unsupported video track was already
 * rejected.
 */
function publishedShortcomings(
  offer: Offer,
  video: VideoFormat | undefined,
  audio: AudioFormat | undefined,
): Shortcoming[] {
  if (audio !== undefined) {
    if (video?.codec !== 'VP8' || audio.codec === 'OPUS') return []
    const detail = codecName(audio)
    return [{ kind: 'audio', way: 'not_recorded', reason: 'webm', detail, recorded: false }]
  }
  const names = sentCodecs(offer, 'audio')
  const [first] = names
  if (first === undefined) return []
  const detail = names.map((codec) => codecName({ codec })).join(', ')
  return [{ kind: 'audio', way: 'none', reason: unsupportedReasonOf(first, 'audio'), detail, recorded: false }]
}
