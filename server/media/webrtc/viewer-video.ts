import type { Lifetime } from '../base/lifetime.ts'
import type { PacketLoan } from '../feeds/fan-out.ts'
import type { Feed } from '../feeds/feed.ts'
import { BurstSender } from './gop-burst.ts'
import type { LinkEstimate } from './link-estimate.ts'
import { type Limit, PacedVideo } from './paced-video.ts'
import type { VideoSender } from './video-sender.ts'

/**
 * Minimum interval, in milliseconds, at which a picture is shown again if it is hidden and shown repeatedly. Each time,
 * all pictures since the last key frame are sent.
 */
const showEveryMs = 500

/**
 * Time after a start, in milliseconds, in which feedback does not describe the link: the first pictures are sent all at
 * once.
 */
const startMs = 2_500

/** A feed and its limit; without a limit, the feed is sent without pacing. */
interface Wanted {
  feed: Feed
  limit: Limit | undefined
}

/** Feed that is sent from its next independently decodable picture on. */
interface Next extends Wanted {
  /** Timestamp of the picture that is arriving now and may be incomplete. */
  partly: number
}

/** Selects which packets of which feed are sent to one viewer. */
export class ViewerVideo {
  /** Pacing of a feed within a limit. */
  readonly pace: PacedVideo
  readonly #sender: VideoSender
  readonly #estimate: LinkEstimate
  readonly #burst: BurstSender
  readonly #visibility: Visibility
  /** Feed that is sent; undefined: no feed. */
  #source: Feed | undefined
  #limit: Limit | undefined
  /** Number of restarts of the source's picture when it was adopted. */
  #restarts = 0
  #next: Next | undefined
  /** Last requested feed, for when a hidden picture is shown again; undefined: none. */
  #wanted: Wanted | undefined

  /**
   * Called when a feed begins to be sent. Assignable, because the adaptation that sets the callback needs this object
   * first.
   */
  adopted: (feed: Feed, limited: boolean) => void = () => {}

  /** @param estimate counts the sent packets */
  constructor(sender: VideoSender, estimate: LinkEstimate, lifetime: Lifetime) {
    this.#sender = sender
    this.#estimate = estimate
    this.pace = new PacedVideo(sender, lifetime)
    this.#visibility = new Visibility(lifetime)
    this.#burst = new BurstSender(sender, lifetime, (feed, whole) => {
      if (!whole) return this.switchTo(feed)
      this.#source = feed
      this.#restarts = feed.picture.restarts
    })
  }

  /** Whether the viewer hides the picture, so that nothing is sent. */
  get hidden(): boolean {
    return this.#visibility.hidden
  }

  /** Sends the pictures since the last key frame at once, then live packets. */
  start(feed: Feed, now: number): void {
    this.#burst.start(now)
    this.#estimate.restart(now, startMs)
    if (feed.gop.length > 0 && !this.hidden) this.#sendBurst(feed)
    else this.switchTo(feed)
  }

  /** Stops sending until `show` is called. */
  hide(): void {
    this.#visibility.hide()
    this.#stop()
  }

  /**
   * Resumes the last requested feed. If the feed keeps the pictures since the last key frame, they are sent at once.
   * Otherwise the picture resumes at the next key frame.
   */
  show(now: number): void {
    this.#visibility.show(now, (shownAt) => {
      this.#estimate.restart(shownAt, startMs)
      if (this.#wanted === undefined) return
      const { feed, limit } = this.#wanted
      if (limit !== undefined || feed.gop.length === 0) return this.switchTo(feed, limit)
      this.#adopt({ feed, limit })
      this.#sendBurst(feed)
    })
  }

  /**
   * Sends this feed from its next independently decodable picture on, or from the last one if little has arrived since.
   * Until then the previous feed continues.
   */
  switchTo(feed: Feed, limit?: Limit): void {
    this.#wanted = { feed, limit }
    if (this.hidden) return
    this.#next = { feed, limit, partly: feed.picture.entry.timestamp }
    if (!this.#catchUp(this.#next)) feed.requestKeyFrame()
  }

  /** Stops sending until the next `switchTo`, and pauses so that the link's queue can empty. */
  pause(): void {
    this.#wanted = undefined
    this.#stop()
    this.pace.rest()
  }

  take(feed: Feed, packet: PacketLoan, sequence: number): void {
    // The burst takes this packet from the GOP.
    if (this.#burst.sending) return
    if (feed === this.#source && feed.picture.restarts !== this.#restarts) this.#renew(feed)
    if (feed === this.#next?.feed) {
      // The feed may keep packets of its key frame already, including this one.
      if (this.#catchUp(this.#next)) return
      this.#adoptWith(this.#next, packet, sequence)
    }
    if (feed !== this.#source) return
    if (this.#limit === undefined) return this.#sender.sendLent(packet, sequence)
    this.pace.take(feed, packet, sequence, this.#limit.keyFramesOnly)
  }

  /** Requests a key frame that the viewer needs to continue. */
  requestKeyFrame(): void {
    const feed = this.#next?.feed ?? this.#source
    feed?.requestKeyFrame()
  }

  /** Sends a missed packet again, within limits. Packets of a feed that is no longer shown are not sent again. */
  sendAgain(number: number, now: number): void {
    this.#sender.sendAgain(number, this.#source, now)
  }

  /** Sends a padding packet to probe the link. Returns its size in bytes; 0 if none may be sent now. */
  sendPadding(): number {
    return this.hidden || this.#burst.sending ? 0 : this.#sender.sendPadding()
  }

  /** Sends the first pictures again to a viewer that cannot decode: they may have been lost. */
  repeatBurst(now: number): void {
    if (this.hidden || !this.#burst.mayRepeat(now)) return
    const feed = this.#source
    if (feed === undefined || this.#limit !== undefined || feed.gop.length === 0) return
    this.#wanted = { feed, limit: undefined }
    this.#burst.repeat(feed)
  }

  /**
   * Continues after the viewer moved to another network.
   * @param silentMs time since its last report in milliseconds: packets sent in this time are lost
   */
  moved(now: number, silentMs: number): void {
    const repeat = this.#burst.restart(now, silentMs)
    this.#sender.moved()
    this.#estimate.queue.forget()
    this.#estimate.restart(now, startMs)
    if (repeat) this.repeatBurst(now)
  }

  /** Repeats requests for key frames, because a request or its answer may have been lost. Called once a second. */
  tick(now: number): void {
    this.#sender.tick(now)
    this.#burst.tick(now)
    this.#next?.feed.requestKeyFrame()
    if (this.#limit?.keyFramesOnly && this.pace.lacksKeyFrame(now)) this.#source?.requestKeyFrame()
  }

  /**
   * Adopts the feed again at its next entry point. The timestamps of the feed's new stream may precede the sent
   * timestamps, and browsers drop such pictures.
   */
  #renew(feed: Feed): void {
    this.#restarts = feed.picture.restarts
    this.#next ??= { feed, limit: this.#limit, partly: -1 }
  }

  #stop(): void {
    this.#source = undefined
    this.#next = undefined
    this.#burst.stop()
    this.pace.clear()
  }

  #sendBurst(feed: Feed): void {
    this.#wanted = { feed, limit: undefined }
    this.#burst.send(feed)
  }

  /** Adopts the next feed at once if sending the pictures since its last key frame takes little time. */
  #catchUp(next: Next): boolean {
    const { feed, limit } = next
    if (limit === undefined || limit.keyFramesOnly || !this.pace.mayCatchUp(feed, limit.rate)) return false
    this.#adopt(next)
    this.pace.catchUp(feed)
    return true
  }

  #adopt({ feed, limit }: Wanted): void {
    this.#next = undefined
    this.#source = feed
    this.#restarts = feed.picture.restarts
    this.#limit = limit
    this.pace.clear()
    if (limit !== undefined) this.pace.rate = limit.rate
    this.adopted(feed, limit !== undefined)
  }

  /** Adopts the next feed if this packet begins an independently decodable picture. */
  #adoptWith(next: Next, { timestamp }: PacketLoan, sequence: number): void {
    const { feed, limit, partly } = next
    if (timestamp !== feed.picture.entry.timestamp || timestamp === partly) return
    this.#adopt(next)
    if (limit === undefined) this.#sender.begin(feed, sequence, this.#sender.timesOf(feed, timestamp))
    else this.pace.begin(feed, timestamp)
  }
}

/** Visibility of a picture to its viewer. */
class Visibility {
  readonly #lifetime: Lifetime
  #hidden = false
  #shownAt = -Infinity
  #cancelShow: (() => void) | undefined

  constructor(lifetime: Lifetime) {
    this.#lifetime = lifetime
  }

  get hidden(): boolean {
    return this.#hidden
  }

  hide(): void {
    this.#cancelShow?.()
    this.#cancelShow = undefined
    this.#hidden = true
  }

  /**
   * Shows a hidden picture, now or when the minimum interval has passed.
   * @param now milliseconds of a monotonic clock
   * @param begin called when it is shown
   */
  show(now: number, begin: (now: number) => void): void {
    if (!this.#hidden || this.#cancelShow !== undefined) return
    const shown = (at: number): void => {
      this.#cancelShow = undefined
      this.#hidden = false
      this.#shownAt = at
      begin(at)
    }
    const wait = this.#shownAt + showEveryMs - now
    if (wait > 0) this.#cancelShow = this.#lifetime.after(wait, () => shown(now + wait))
    else shown(now)
  }
}
