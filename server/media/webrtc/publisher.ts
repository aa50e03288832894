import { type AudioFormat, Feed, type VideoFormat } from '../feeds/feed.ts'
import { Problem } from '../problem.ts'
import { isRtcp, isRtp } from '../rtp/packet.ts'
import { clockPointOf } from '../rtp/rtcp.ts'
import type { IncomingStream } from './incoming-stream.ts'
import { type Offer, type OfferedCodec, type OfferedMedia, publishedAudio, publishedVideo } from './offer.ts'
import { Peer, type PeerSettings } from './peer.ts'
import { PublisherFeedback } from './publisher-feedback.ts'
import { carryingSection, silentSection } from './sections.ts'

const reportEveryMs = 1_000
/** A publisher that has sent nothing for so long is gone, unless something else tells that it is there. */
const stallMs = 10_000

/** One browser that publishes (WHIP). */
export class Publisher {
  readonly peer: Peer
  readonly feed: Feed
  readonly #sections = new Map<OfferedMedia, { codec: OfferedCodec; format: VideoFormat | AudioFormat }>()
  readonly #feedback: PublisherFeedback
  #video: IncomingStream | undefined
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
    const video = this.#choose(offer, 'video')
    const audio = this.#choose(offer, 'audio')
    if (video === undefined && audio === undefined) {
      throw new Problem('codec', 'The offer has no video in VP8 or H.264 and no audio in Opus or G.711.')
    }
    this.feed = new Feed({
      video: video !== undefined && 'profileLevelId' in video ? video : undefined,
      audio: audio !== undefined && 'clockRate' in audio ? audio : undefined,
      cached: false,
      requestKeyFrame: () => this.#video?.requestKeyFrame(),
    })
    this.peer = new Peer('publisher', settings, () => {
      this.feed.end()
      onClosed()
    })
    this.peer.onMoved = () => this.#video?.requestKeyFrame()
    this.#feedback = new PublisherFeedback(this.peer.lifetime, mostBitsPerSecond)
  }

  /** @throws Problem badOffer */
  async answer(offer: Offer): Promise<string> {
    for (const media of offer.media) this.#addSection(media)
    this.peer.lifetime.every(reportEveryMs, () => this.#report())
    return await this.peer.answer(offer)
  }

  close(): void {
    this.peer.close()
  }

  #choose(offer: Offer, kind: OfferedMedia['kind']): VideoFormat | AudioFormat | undefined {
    for (const media of offer.media) {
      if (media.kind !== kind || media.direction === 'recvonly' || media.direction === 'inactive') continue
      const chosen = kind === 'video' ? publishedVideo(media) : publishedAudio(media)
      if (chosen === undefined) continue
      this.#sections.set(media, chosen)
      return chosen.format
    }
    return undefined
  }

  #addSection(media: OfferedMedia): void {
    const chosen = this.#sections.get(media)
    if (chosen === undefined) {
      this.peer.addTrack(silentSection(media), () => {})
      return
    }
    const clockRate = 'clockRate' in chosen.format ? chosen.format.clockRate : 90_000
    // No handler on the track: the node reads RTP and RTCP itself.
    const track = this.peer.addTrack(carryingSection(media, chosen.codec, 'RecvOnly'), (message) =>
      this.#received(stream, message),
    )
    const stream = this.#feedback.addStream(media.kind, clockRate, track)
    if (media.kind === 'video') this.#video = stream
  }

  #received(stream: IncomingStream, message: Buffer): void {
    const now = Date.now()
    this.#heardAt = now
    if (isRtcp(message)) {
      const point = clockPointOf(message)
      if (point === undefined) return
      stream.reported(point, now)
      this.feed.noteClock(stream.kind, point)
      return
    }
    if (!isRtp(message) || !stream.received(message, now)) return
    if (stream.kind === 'video') this.feed.pushVideo(message)
    else this.feed.pushAudio(message)
  }

  #report(): void {
    const now = Date.now()
    if (this.#heardAt !== 0 && now - this.#heardAt > stallMs && !this.#mayStall()) return this.close()
    this.#feedback.report(now)
  }
}
