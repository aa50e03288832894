import { randomInt } from 'node:crypto'
import type { StreamSize } from '../../../shared/media/signal.ts'
import { Problem } from '../base/problem.ts'
import type { PacketLoan, Sink } from '../feeds/fan-out.ts'
import type { VideoFormat } from '../feeds/feed-tracks.ts'
import type { Feed, PictureStreams } from '../feeds/feed.ts'
import { isRtcp, sendTimeUri } from '../rtp/packet.ts'
import { type FeedbackListener, readFeedback, type ReceivedBlock } from '../rtp/rtcp.ts'
import { sendingSection, silentSection } from './answer.ts'
import { LinkAdaptation } from './link-adaptation.ts'
import { LinkEstimate } from './link-estimate.ts'
import { audioCodecFor, type Offer, type OfferedCodec, type OfferedMedia, videoCodecFor } from './offer.ts'
import { Outgoing } from './outgoing.ts'
import { Peer, type PeerSettings } from './peer.ts'
import { VideoSender } from './video-sender.ts'
import { ViewerVideo } from './viewer-video.ts'

/** Time without a report, in milliseconds, after which a viewer that was sent packets has left. */
const stallMs = 10_000

/**
 * Minimum round trip that a viewer measures, in milliseconds. A browser requests a lost packet at most ten times, once
 * per round trip. With a shorter round trip, the requests would end within an outage of half a second.
 */
const minRoundTripMs = 50

export interface Watched {
  feed: Feed
  /** Format of the picture, if `streams` have another format than the feed. */
  video?: VideoFormat | undefined
  /** Streams of the picture. The stream that is sent depends on the viewer. */
  streams: PictureStreams
  /** Called when the sent size of the picture changes; the initial size is `full`. */
  resized: (size: StreamSize) => void
}

/** One browser that watches one feed (WHEP). */
export class Viewer implements Sink, FeedbackListener {
  readonly peer: Peer
  readonly #watched: Watched
  readonly #delay: PeerSettings['delay']
  #picture: ViewerPicture | undefined
  #sound: Outgoing | undefined
  #started = false
  #roundTrip = -1
  /** Whether an answer to a reference time is scheduled. */
  #answering = false
  #height = Infinity

  /** @param onClosed called once when the viewer ends, for any reason */
  constructor(watched: Watched, settings: PeerSettings, onClosed: () => void) {
    this.#watched = watched
    this.#delay = settings.delay
    this.peer = new Peer('viewer', settings, () => {
      this.#feed.remove(this)
      onClosed()
    })
    this.peer.onMoved = () => this.#picture?.moved()
  }

  get #feed(): Feed {
    return this.#watched.feed
  }

  /** Format of the sent picture; undefined: there is none. */
  get #video(): VideoFormat | undefined {
    return this.#watched.video ?? this.#feed.video
  }

  /** Round trip from the viewer's reports, in milliseconds; -1 when unknown. */
  get roundTrip(): number {
    return this.#roundTrip
  }

  /**
   * Answers the browser's offer. Packets are sent as soon as the browser has connected.
   * @throws Problem codec, badOffer
   */
  async answer(offer: Offer): Promise<string> {
    try {
      for (const media of offer.media) this.#addSection(media)
      if (
        this.#picture === undefined &&
        this.#video !== undefined &&
        offer.media.some(({ kind }) => kind === 'video')
      ) {
        throw new Problem('codec', `The viewer does not take ${this.#video.codec}, which the stream is sent in.`)
      }
      if (this.#picture === undefined && this.#sound === undefined) throw new Problem('codec')
    } catch (error) {
      this.peer.close()
      throw error
    }
    this.peer.onOpen = () => this.#start()
    const answer = await this.peer.answer(offer)
    return this.#picture?.completeAnswer(answer) ?? answer
  }

  video(packet: PacketLoan, sequence: number): void {
    if (this.#picture === undefined || this.peer.closed) return
    this.#picture.video.take(this.#feed, packet, sequence)
  }

  audio(packet: PacketLoan): void {
    if (this.#sound === undefined || this.peer.closed) return
    packet.lend(sendSound, this.#sound)
  }

  report(now: number): void {
    for (const out of [this.#picture?.out, this.#sound]) {
      if (!out?.begun) continue
      if (out.owedSince !== 0 && now - out.owedSince > stallMs) return this.peer.close()
    }
    this.#picture?.report(now)
    const clock = this.#sound?.begun === true ? this.#feed.clock('audio').at(now) : undefined
    if (clock !== undefined) this.#sound?.report(clock, performance.now())
    this.#picture?.tick(performance.now())
  }

  ended(): void {
    this.peer.close()
  }

  missing(ssrc: number, number: number): void {
    if (this.#picture?.out.ssrc !== ssrc) return
    this.#picture.video.sendAgain(number, performance.now())
  }

  keyFrameWanted(): void {
    this.#picture?.video.requestKeyFrame()
    this.#picture?.video.repeatBurst(performance.now())
  }

  bitrate(bitsPerSecond: number): void {
    this.#picture?.estimate.onBitrate(bitsPerSecond, performance.now())
  }

  block(block: ReceivedBlock): void {
    const picture = this.#picture
    if (picture?.out.ssrc === block.ssrc) picture.onLoss(block)
    for (const sent of [picture?.out, this.#sound]) {
      const roundTrip = sent?.roundTrip(block, performance.now())
      if (roundTrip === undefined) continue
      this.#roundTrip = roundTrip
      picture?.onRoundTrip(roundTrip)
    }
  }

  referenceTime(ssrc: number, middle: number): void {
    const { measuresRoundTrip, out } = this.#picture ?? {}
    if (measuresRoundTrip !== true || this.#answering) return
    this.#answering = true
    this.peer.lifetime.after(Math.max(0, minRoundTripMs - Math.max(0, this.#roundTrip)), () => {
      this.#answering = false
      out?.answerReferenceTime(ssrc, middle)
    })
  }

  /**
   * Sets the height at which the viewer shows the picture, in device pixels; 0: the picture is hidden and not sent,
   * Infinity: unknown. Above 0, sending resumes at once with an independently decodable picture.
   */
  shown(height: number): void {
    this.#height = height
    this.#picture?.adaptation.shown(height)
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
      // If this section were omitted, the library's answer would offer all its codecs.
      this.peer.addTrack(silentSection(media), () => {})
      return
    }
    const ssrc = randomInt(1, 2 ** 31)
    const section = sendingSection(media, codec)
    section.addSSRC(ssrc, 'roomdesk', 'roomdesk', media.kind)
    // The track has no media handler: requests are answered from the packets that the feed keeps for all viewers.
    const track = this.peer.addTrack(section, (message) => this.#onMessage(message))
    const { payloadType } = codec
    const out = new Outgoing({ kind: media.kind, track, payloadType, ssrc, closed: () => this.peer.close() })
    if (media.kind === 'audio') this.#sound = out
    else {
      this.#picture = new ViewerPicture(out, media, this.#watched, this.peer, this.#delay)
      this.#picture.adaptation.shown(this.#height)
    }
  }

  #wanted(media: OfferedMedia): OfferedCodec | undefined {
    if (media.direction === 'sendonly' || media.direction === 'inactive') return undefined
    const { audio } = this.#feed
    const video = this.#video
    if (media.kind === 'video') {
      return video === undefined || this.#picture !== undefined ? undefined : videoCodecFor(media, video)
    }
    return audio === undefined || this.#sound !== undefined ? undefined : audioCodecFor(media, audio)
  }

  #onMessage(message: Buffer): void {
    if (!isRtcp(message)) return
    // Any report shows that the viewer is present.
    for (const out of [this.#picture?.out, this.#sound]) if (out !== undefined) out.owedSince = 0
    readFeedback(message, this)
    this.#picture?.adaptation.judge(performance.now())
  }

  /** Sends kept pictures at once, then live packets, once the viewer is connected. */
  #start(): void {
    if (this.#started || this.peer.closed) return
    this.#started = true
    this.#picture?.adaptation.start()
    // Sending the first pictures may have closed the peer.
    if (!this.peer.closed) this.#feed.add(this)
  }
}

function sendSound(packet: Buffer, sound: Outgoing): void {
  sound.send(packet)
}

/** The picture sent to one viewer, adapted to the viewer's link and screen. */
class ViewerPicture {
  readonly out: Outgoing
  readonly video: ViewerVideo
  readonly estimate: LinkEstimate
  readonly adaptation: LinkAdaptation
  readonly #sender: VideoSender
  readonly #mid: string
  /** Number of the header extension with the send time; 0: the viewer does not support the extension. */
  readonly #sendTimeId: number
  readonly measuresRoundTrip: boolean

  constructor(
    out: Outgoing,
    { mid, extensions, measuresRoundTrip }: OfferedMedia,
    { feed, streams, resized }: Watched,
    peer: Peer,
    delay: PeerSettings['delay'],
  ) {
    const { lifetime } = peer
    this.out = out
    this.#mid = mid
    this.#sendTimeId = extensions.get(sendTimeUri) ?? 0
    this.measuresRoundTrip = measuresRoundTrip
    this.estimate = new LinkEstimate(performance.now(), delay)
    this.#sender = new VideoSender(out, this.#sendTimeId, this.estimate)
    this.video = new ViewerVideo(this.#sender, this.estimate, lifetime)
    this.adaptation = new LinkAdaptation({
      video: this.video,
      estimate: this.estimate,
      main: feed,
      streams,
      lifetime,
      measure: () => this.report(Date.now()),
      changed: resized,
      failed: (error) => peer.fail(error),
    })
    this.video.adopted = (source, limited) => this.adaptation.adopted(source, limited)
  }

  /** Sends a sender report. The viewer's answer to it gives the round trip. @param now milliseconds since the epoch */
  report(now: number): void {
    const clock = this.out.begun ? this.#sender.clock(now) : undefined
    if (clock !== undefined) this.out.report(clock, performance.now())
  }

  /** Adjusts to the link. Called once a second. @param now milliseconds of a monotonic clock */
  tick(now: number): void {
    this.video.tick(now)
    this.adaptation.tick(now)
  }

  onLoss({ lost }: ReceivedBlock): void {
    this.#sender.onLoss(lost, performance.now())
  }

  /** Takes a round trip, in milliseconds. */
  onRoundTrip(roundTrip: number): void {
    this.#sender.roundTrip = roundTrip
    this.estimate.onRoundTrip(roundTrip, performance.now())
  }

  /**
   * Continues after the viewer moved to another network. Packets sent to the old network are lost, and the browser
   * reports the loss only after seconds.
   */
  moved(): void {
    const { owedSince } = this.out
    this.video.requestKeyFrame()
    this.video.moved(performance.now(), owedSince === 0 ? 0 : Date.now() - owedSince)
  }

  /**
   * Adds the attributes that the library does not support to an answer. The library sends packets unchanged, so the
   * attributes apply.
   */
  completeAnswer(sdp: string): string {
    const extension = this.#sendTimeId === 0 ? '' : `a=extmap:${this.#sendTimeId} ${sendTimeUri}\r\n`
    const roundTrip = this.measuresRoundTrip ? 'a=rtcp-xr:rcvr-rtt=all\r\n' : ''
    return sdp.replace(`a=mid:${this.#mid}\r\n`, (line) => `${line}${extension}${roundTrip}`)
  }
}
