import type { StreamSize } from '../../../shared/media/signal.ts'
import type { Feed } from '../feeds/feed.ts'
import type { PictureStreams } from '../feeds/feed.ts'
import type { VideoFormat } from '../feeds/feed-tracks.ts'
import type { ReceivedBlock } from '../rtp/rtcp.ts'
import { sendTimeUri } from '../rtp/packet.ts'
import { LinkAdaptation } from './link-adaptation.ts'
import { LinkEstimate } from './link-estimate.ts'
import type { OfferedMedia } from './offer.ts'
import type { Outgoing } from './outgoing.ts'
import type { Peer, PeerSettings } from './peer.ts'
import { VideoSender } from './video-sender.ts'
import { ViewerVideo } from './viewer-video.ts'

export interface Watched {
  feed: Feed
  /** Format of the picture, if `streams` have another format than the feed. */
  video?: VideoFormat | undefined
  /** Streams of the picture. The stream that is sent depends on the viewer. */
  streams: PictureStreams
  /** Called when the sent size of the picture changes; the initial size is `full`. */
  resized: (size: StreamSize) => void
}

/** The picture sent to one viewer, adapted to the viewer's link and screen. */
export class ViewerPicture {
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
