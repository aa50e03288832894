import { randomInt } from 'node:crypto'
import type { StreamSize } from '../../../shared/media/signal.ts'
import type { Sink } from '../feeds/fan-out.ts'
import type { Feed } from '../feeds/feed.ts'
import type { PictureStreams } from '../feeds/feed.ts'
import { Problem } from '../base/problem.ts'
import { type FeedbackListener, readFeedback, type ReceivedBlock } from '../rtp/feedback.ts'
import { isRtcp } from '../rtp/packet.ts'
import { sendTimeUri } from '../rtp/send-time.ts'
import { audioCodecFor, type Offer, type OfferedCodec, type OfferedMedia, videoCodecFor } from './offer.ts'
import { LinkAdaptation } from './link-adaptation.ts'
import { LinkEstimate } from './link-estimate.ts'
import { Outgoing } from './outgoing.ts'
import { Peer, type PeerSettings } from './peer.ts'
import { sendingSection, silentSection } from './sections.ts'
import { VideoSender } from './video-sender.ts'
import { ViewerVideo } from './viewer-video.ts'

/** A viewer that was sent something and has reported nothing for so long is gone, in milliseconds. */
const stallMs = 10_000

/**
 * No round trip is told that is shorter, in milliseconds: a browser asks ten times for a lost packet, once in a round trip, and gives it up. On a short way it
 * would outlast no outage of half a second.
 */
const shortestToldMs = 50

/** What a viewer watches. */
export interface Watched {
  feed: Feed
  /** Those of its picture: which of them is sent depends on the viewer. */
  streams: PictureStreams
  /** Told what the viewer is sent of the picture from now on; it begins with everything. */
  resized: (size: StreamSize) => void
}

interface SentVideo {
  out: Outgoing
  mid: string
  sendTimeId: number
  measuresRoundTrip: boolean
  sender: VideoSender
  video: ViewerVideo
  estimate: LinkEstimate
  adaptation: LinkAdaptation
}

/** One browser that watches one feed (WHEP). */
export class Viewer implements Sink, FeedbackListener {
  readonly peer: Peer
  readonly #watched: Watched
  readonly #delay: PeerSettings['delay']
  #video: SentVideo | undefined
  #audio: Outgoing | undefined
  #started = false
  #roundTrip = -1
  /** A reference time is answered in a moment. */
  #answers = false
  #height = Infinity

  /** @param onClosed told once when it ends, for whatever reason */
  constructor(watched: Watched, settings: PeerSettings, onClosed: () => void) {
    this.#watched = watched
    this.#delay = settings.delay
    this.peer = new Peer('viewer', settings, () => {
      this.#feed.remove(this)
      onClosed()
    })
    this.peer.onMoved = () => this.#moved()
  }

  get #feed(): Feed {
    return this.#watched.feed
  }

  /** Milliseconds, by the viewer's reports; -1 when unknown. */
  get roundTrip(): number {
    return this.#roundTrip
  }

  /**
   * The answer to the browser's offer; packets flow as soon as it has connected.
   * @throws Problem codec, badOffer
   */
  async answer(offer: Offer): Promise<string> {
    try {
      for (const media of offer.media) this.#addSection(media)
      if (
        this.#video === undefined &&
        this.#feed.video !== undefined &&
        offer.media.some(({ kind }) => kind === 'video')
      ) {
        throw new Problem('codec', `The viewer does not take ${this.#feed.video.codec}, which the stream is sent in.`)
      }
      if (this.#video === undefined && this.#audio === undefined) throw new Problem('codec')
    } catch (error) {
      this.peer.close()
      throw error
    }
    this.peer.onOpen = () => this.#start()
    const answer = await this.peer.answer(offer)
    return this.#video === undefined ? answer : withAttributes(answer, this.#video)
  }

  video(packet: Buffer, sequence: number): void {
    if (this.#video === undefined || this.peer.closed) return
    this.#video.video.take(this.#feed, packet, sequence)
  }

  audio(packet: Buffer): void {
    if (this.#audio === undefined || this.peer.closed) return
    this.#audio.send(packet)
  }

  report(now: number): void {
    for (const out of [this.#video?.out, this.#audio]) {
      if (!out?.begun) continue
      if (out.owedSince !== 0 && now - out.owedSince > stallMs) return this.peer.close()
    }
    this.#reportVideo(now)
    const clock = this.#audio?.begun === true ? this.#feed.clock('audio').at(now) : undefined
    if (clock !== undefined) this.#audio?.report(clock, performance.now())
    const monotonic = performance.now()
    this.#video?.video.tick(monotonic)
    this.#video?.adaptation.tick(monotonic)
  }

  ended(): void {
    this.peer.close()
  }

  missing(ssrc: number, number: number): void {
    if (this.#video?.out.ssrc !== ssrc) return
    this.#video.video.sendAgain(number, performance.now())
  }

  keyFrameWanted(): void {
    this.#video?.video.requestKeyFrame()
    this.#video?.video.repeatBurst(performance.now())
  }

  bitrate(bitsPerSecond: number): void {
    this.#video?.estimate.onBitrate(bitsPerSecond, performance.now())
  }

  block(block: ReceivedBlock): void {
    const { out, sender, estimate } = this.#video ?? {}
    if (out?.ssrc === block.ssrc) sender?.onLoss(block.lost, performance.now())
    for (const sent of [out, this.#audio]) {
      const roundTrip = sent?.roundTrip(block, performance.now())
      if (roundTrip === undefined) continue
      this.#roundTrip = roundTrip
      if (sender !== undefined) sender.roundTrip = roundTrip
      estimate?.onRoundTrip(roundTrip, performance.now())
    }
  }

  referenceTime(ssrc: number, middle: number): void {
    const { measuresRoundTrip, out } = this.#video ?? {}
    if (measuresRoundTrip !== true || this.#answers) return
    this.#answers = true
    this.peer.lifetime.after(Math.max(0, shortestToldMs - Math.max(0, this.#roundTrip)), () => {
      this.#answers = false
      out?.answerReferenceTime(ssrc, middle)
    })
  }

  /**
   * How high the viewer shows the picture from now on, in its device pixels; Infinity while that is not known. At 0 nothing of the picture is sent; it begins
   * again at once with one that can be decoded by itself.
   */
  shown(height: number): void {
    this.#height = height
    this.#video?.adaptation.shown(height)
  }

  failed(error: unknown): void {
    this.peer.fail(error)
  }

  close(): void {
    this.peer.close()
  }

  #addSection(media: OfferedMedia): void {
    const codec = this.#wanted(media)
    if (codec === undefined) {
      // Left out, the answer would offer every codec of it.
      this.peer.addTrack(silentSection(media), () => {})
      return
    }
    const ssrc = randomInt(1, 2 ** 31)
    const section = sendingSection(media, codec)
    section.addSSRC(ssrc, 'roomdesk', 'roomdesk', media.kind)
    // No handler on the track: what a viewer asks for is answered from what the feed keeps for everybody.
    const track = this.peer.addTrack(section, (message) => this.#heard(message))
    const { payloadType } = codec
    const out = new Outgoing({ kind: media.kind, track, payloadType, ssrc, closed: () => this.peer.close() })
    if (media.kind === 'video') this.#video = this.#sentVideo(out, media)
    else this.#audio = out
  }

  #sentVideo(out: Outgoing, { mid, extensions, measuresRoundTrip }: OfferedMedia): SentVideo {
    const { feed, streams, resized } = this.#watched
    const { lifetime } = this.peer
    const sendTimeId = extensions.get(sendTimeUri) ?? 0
    const estimate = new LinkEstimate(performance.now(), this.#delay)
    const sender = new VideoSender(out, sendTimeId, estimate)
    const video = new ViewerVideo(sender, estimate, lifetime)
    const failed = (error: unknown): void => this.failed(error)
    const measure = (): void => this.#reportVideo(Date.now())
    const adaptation = new LinkAdaptation({
      video,
      estimate,
      main: feed,
      streams,
      lifetime,
      measure,
      changed: resized,
      failed,
    })
    video.adopted = (source, limited) => adaptation.adopted(source, limited)
    adaptation.shown(this.#height)
    return { out, mid, sendTimeId, measuresRoundTrip, sender, video, estimate, adaptation }
  }

  #reportVideo(now: number): void {
    const { out, sender } = this.#video ?? {}
    const clock = out?.begun === true ? sender?.clock(now) : undefined
    if (clock !== undefined) out?.report(clock, performance.now())
  }

  #wanted(media: OfferedMedia): OfferedCodec | undefined {
    if (media.direction === 'sendonly' || media.direction === 'inactive') return undefined
    const { video, audio } = this.#feed
    if (media.kind === 'video') {
      return video === undefined || this.#video !== undefined ? undefined : videoCodecFor(media, video)
    }
    return audio === undefined || this.#audio !== undefined ? undefined : audioCodecFor(media, audio)
  }

  #heard(message: Buffer): void {
    if (!isRtcp(message)) return
    // Whatever it says, it is there.
    for (const out of [this.#video?.out, this.#audio]) if (out !== undefined) out.owedSince = 0
    readFeedback(message, this)
    this.#video?.adaptation.judge(performance.now())
  }

  /** Connected: what there is at once, then what comes. */
  #start(): void {
    if (this.#started || this.peer.closed) return
    this.#started = true
    this.#video?.adaptation.start()
    // The burst may have found it closed.
    if (!this.peer.closed) this.#feed.add(this)
  }

  /** On another network: what was sent to the old one is lost, and the browser takes seconds to say so. */
  #moved(): void {
    if (this.#video === undefined) return
    const { out, video } = this.#video
    video.requestKeyFrame()
    video.moved(performance.now(), out.owedSince === 0 ? 0 : Date.now() - out.owedSince)
  }
}

/** The answer with what its video is sent with that the library does not know of: it sends packets as they are. */
function withAttributes(sdp: string, { mid, sendTimeId, measuresRoundTrip }: SentVideo): string {
  const extension = sendTimeId === 0 ? '' : `a=extmap:${sendTimeId} ${sendTimeUri}\r\n`
  const roundTrip = measuresRoundTrip ? 'a=rtcp-xr:rcvr-rtt=all\r\n' : ''
  return sdp.replace(`a=mid:${mid}\r\n`, (line) => `${line}${extension}${roundTrip}`)
}
