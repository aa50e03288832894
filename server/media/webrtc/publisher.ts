import type { Track } from 'node-datachannel'
import { Feed, type AudioFormat, type VideoFormat } from '../feeds/feed.ts'
import { Problem } from '../problem.ts'
import { audioLevelOf, audioLevelUri } from '../rtp/audio-level.ts'
import { isRtcp, isRtp } from '../rtp/packet.ts'
import { eachClockPoint } from '../rtp/rtcp.ts'
import { type AnsweredSection, bundledAnswer, bundledOffer, wholeTransport } from './bundle.ts'
import { IncomingStreams } from './incoming-streams.ts'
import type { IncomingStream } from './incoming-stream.ts'
import { type Offer, type OfferedCodec, type OfferedMedia, publishedAudio, publishedVideo } from './offer.ts'
import { Peer, type PeerSettings } from './peer.ts'
import { PublisherFeedback } from './publisher-feedback.ts'
import { receivingSection } from './sections.ts'

const reportEveryMs = 1_000
/** A publisher that has sent nothing for so long is gone, unless something else tells that it is there. */
const stallMs = 10_000

/** What is taken of an offer. */
interface Taken<Format> {
  media: OfferedMedia
  codec: OfferedCodec
  format: Format
}

/** One browser that publishes (WHIP). */
export class Publisher {
  readonly peer: Peer
  readonly feed: Feed
  readonly #video: Taken<VideoFormat> | undefined
  readonly #audio: Taken<AudioFormat> | undefined
  readonly #feedback: PublisherFeedback
  readonly #streams = new IncomingStreams()
  readonly #videoStreams: IncomingStream[] = []
  readonly #mayStall: () => boolean
  /** 0: never yet. */
  #heardAt = 0

  /**
   * @param mostBitsPerSecond what the browser is told it may send
   * @param mayStall whether the person is known to be there, so that a pause is no end
   * @param onClosed told once when it ends, for whatever reason
   * @throws Problem codec when nothing of the offer can be taken, busy
   */
  constructor(
    offer: Offer,
    settings: PeerSettings,
    mostBitsPerSecond: number,
    mayStall: () => boolean,
    onClosed: () => void,
  ) {
    this.#mayStall = mayStall
    this.#video = firstOf(offer, 'video', publishedVideo)
    this.#audio = firstOf(offer, 'audio', publishedAudio)
    if (this.#video === undefined && this.#audio === undefined) {
      throw new Problem('codec', 'The offer has no video in VP8 or H.264 and no audio in Opus or G.711.')
    }
    this.feed = new Feed({
      video: this.#video?.format,
      audio: this.#audio?.format,
      cached: false,
      requestKeyFrame: () => this.#requestKeyFrames(),
    })
    this.peer = new Peer('publisher', settings, () => {
      this.feed.end()
      onClosed()
    })
    this.peer.onMoved = () => this.#requestKeyFrames()
    this.#feedback = new PublisherFeedback(this.peer.lifetime, mostBitsPerSecond)
  }

  /** @throws Problem badOffer */
  async answer(offer: Offer): Promise<string> {
    // No handler on the track: the node reads RTP and RTCP itself.
    const track = this.peer.addTrack(receivingSection(offer.media[0]?.mid ?? '0', wholeTransport), (message) =>
      this.#received(message),
    )
    const taken = new Map<OfferedMedia, AnsweredSection>()
    if (this.#video !== undefined) taken.set(this.#video.media, this.#takeVideo(this.#video, track))
    if (this.#audio !== undefined) taken.set(this.#audio.media, this.#takeAudio(this.#audio, track))
    this.peer.lifetime.every(reportEveryMs, () => this.#report())
    const transport = await this.peer.answer({ ...offer, sdp: bundledOffer(offer) })
    return bundledAnswer(offer, taken, transport)
  }

  close(): void {
    this.peer.close()
  }

  #takeVideo({ codec }: Taken<VideoFormat>, track: Track): AnsweredSection {
    const stream = this.#feedback.addStream('video', 90_000, track)
    this.#videoStreams.push(stream)
    const { payloadType } = codec
    const push = (packet: Buffer): void => this.feed.pushVideo(packet)
    this.#streams.add({ stream, payloadType, rid: undefined, ridExtension: 0, push })
    return { codec, extensions: [], feedback: ['nack', 'nack pli', 'goog-remb'], rids: [] }
  }

  #takeAudio({ media, codec, format }: Taken<AudioFormat>, track: Track): AnsweredSection {
    const stream = this.#feedback.addStream('audio', format.clockRate, track)
    const { payloadType } = codec
    const levelId = media.extensions.get(audioLevelUri)
    const push = (packet: Buffer): void =>
      this.feed.pushAudio(packet, levelId === undefined ? -1 : audioLevelOf(packet, levelId))
    this.#streams.add({ stream, payloadType, rid: undefined, ridExtension: 0, push })
    return { codec, extensions: levelId === undefined ? [] : [audioLevelUri], feedback: [], rids: [] }
  }

  #received(message: Buffer): void {
    const now = Date.now()
    this.#heardAt = now
    if (isRtcp(message)) {
      eachClockPoint(message, (ssrc, point) => {
        const stream = this.#streams.find(ssrc)?.stream
        if (stream === undefined) return
        stream.reported(point, now)
        this.feed.noteClock(stream.kind, point)
      })
    } else if (isRtp(message)) this.#streams.received(message, now)
  }

  #report(): void {
    const now = Date.now()
    if (this.#heardAt !== 0 && now - this.#heardAt > stallMs && !this.#mayStall()) return this.close()
    this.#feedback.report(now)
  }

  #requestKeyFrames(): void {
    for (const stream of this.#videoStreams) stream.requestKeyFrame()
  }
}

/** The first section of a kind that is sent and of which something can be taken. */
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
