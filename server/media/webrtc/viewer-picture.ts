import type { StreamSize } from '../../../shared/media/signal.ts'
import type { Feed } from '../feeds/feed.ts'
import type { PictureStreams } from '../feeds/feed.ts'
import type { VideoFormat } from '../feeds/feed-format.ts'
import type { ReceivedBlock } from '../rtp/feedback.ts'
import { sendTimeUri } from '../rtp/send-time.ts'
import { LinkAdaptation } from './link-adaptation.ts'
import { LinkEstimate } from './link-estimate.ts'
import type { OfferedMedia } from './offer.ts'
import type { Outgoing } from './outgoing.ts'
import type { Peer, PeerSettings } from './peer.ts'
import { VideoSender } from './video-sender.ts'
import { ViewerVideo } from './viewer-video.ts'

/** Feed that a viewer watches. */
export interface Watched {
  feed: Feed
  /** Format of its picture where `streams` carry it in another one than the feed. */
  video?: VideoFormat | undefined
  /** Streams of its picture: which of them is sent depends on the viewer. */
  streams: PictureStreams
  /** Called with what the viewer is sent of the picture from now on; it begins with everything. */
  resized: (size: StreamSize) => void
}

/** The picture that one viewer is sent, and how it follows the viewer's link and screen. */
export class ViewerPicture {
  readonly out: Outgoing
  readonly video: ViewerVideo
  readonly estimate: LinkEstimate
  readonly adaptation: LinkAdaptation
  readonly #sender: VideoSender
  readonly #mid: string
  /** Number of the send time's header extension; 0: the viewer does not know it. */
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

  /** Sends a sender report, from whose answer the round trip is measured. @param now milliseconds since the epoch */
  report(now: number): void {
    const clock = this.out.begun ? this.#sender.clock(now) : undefined
    if (clock !== undefined) this.out.report(clock, performance.now())
  }

  /** Once a second. @param now milliseconds of a clock that never goes back */
  tick(now: number): void {
    this.video.tick(now)
    this.adaptation.tick(now)
  }

  /** Takes the viewer's report of this stream. */
  onLoss({ lost }: ReceivedBlock): void {
    this.#sender.onLoss(lost, performance.now())
  }

  /** Takes a round trip, in milliseconds. */
  onRoundTrip(roundTrip: number): void {
    this.#sender.roundTrip = roundTrip
    this.estimate.onRoundTrip(roundTrip, performance.now())
  }

  /** Goes on after the viewer moved to another network: what was sent to the old one is lost, and the browser takes seconds to say so. */
  moved(): void {
    const { owedSince } = this.out
    this.video.requestKeyFrame()
    this.video.moved(performance.now(), owedSince === 0 ? 0 : Date.now() - owedSince)
  }

  /** Adds to an answer the attributes that the library does not know: it sends packets as they are. */
  completeAnswer(sdp: string): string {
    const extension = this.#sendTimeId === 0 ? '' : `a=extmap:${this.#sendTimeId} ${sendTimeUri}\r\n`
    const roundTrip = this.measuresRoundTrip ? 'a=rtcp-xr:rcvr-rtt=all\r\n' : ''
    return sdp.replace(`a=mid:${this.#mid}\r\n`, (line) => `${line}${extension}${roundTrip}`)
  }
}
