import type { Feed } from '../feeds/feed.ts'
import type { Lifetime } from '../base/lifetime.ts'
import type { PacketLoan } from '../feeds/packet-loan.ts'
import { BurstSender } from './burst-sender.ts'
import type { LinkEstimate } from './link-estimate.ts'
import { type Limit, PacedVideo } from './paced-video.ts'
import type { VideoSender } from './video-sender.ts'

/** Interval between two beginnings of a picture that is hidden and shown again and again, in milliseconds: each costs all pictures since the last key frame. */
const showEveryMs = 500

/** Time after a start, in milliseconds, whose feedback says nothing of the link: the first pictures come all at once. */
const startMs = 2_500

/** Feed, and how it is sent; without a limit: as it comes. */
interface Wanted {
  feed: Feed
  limit: Limit | undefined
}

/** Feed that is sent from its next picture on that can be decoded by itself. */
interface Next extends Wanted {
  /** Timestamp of the picture that is coming now, and may be partly over. */
  partly: number
}

/** The video of one viewer: which packets of which feed it is sent. */
export class ViewerVideo {
  /** Pacing of a feed within a limit. */
  readonly pace: PacedVideo
  readonly #sender: VideoSender
  readonly #estimate: LinkEstimate
  readonly #burst: BurstSender
  readonly #visibility: Visibility
  /** Feed whose packets are sent; undefined while none is. */
  #source: Feed | undefined
  #limit: Limit | undefined
  /** Restarts of the source's picture when its packets were first sent. */
  #restarts = 0
  /** Feed that is waited for. */
  #next: Next | undefined
  /** Last wish, for when a hidden picture is shown again; undefined: none. */
  #wanted: Wanted | undefined

  /** Called with the feed whose packets are sent from now on. */
  adopted: (feed: Feed, limited: boolean) => void = () => {}

  /** @param estimate counts what is sent */
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

  /** The viewer does not see the picture: nothing is sent. */
  get hidden(): boolean {
    return this.#visibility.hidden
  }

  /** Sends the pictures since the last key frame at once, then what comes. */
  start(feed: Feed, now: number): void {
    this.#burst.start(now)
    this.#estimate.restart(now, startMs)
    if (feed.gop.length > 0 && !this.hidden) this.#sendBurst(feed)
    else this.switchTo(feed)
  }

  /** Sends nothing until the picture is shown. */
  hide(): void {
    this.#visibility.hide()
    this.#stop()
  }

  /** Sends again what was wanted last: pictures since the last key frame at once where there are any, else from the next key frame on. */
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
   * Sends this feed from its next picture on that can be decoded by itself, or from the last one where little has come since. Until then the feed before
   * goes on.
   */
  switchTo(feed: Feed, limit?: Limit): void {
    this.#wanted = { feed, limit }
    if (this.hidden) return
    this.#next = { feed, limit, partly: feed.picture.entry.timestamp }
    if (!this.#catchUp(this.#next)) feed.requestKeyFrame()
  }

  /** Sends nothing until the next `switchTo`, and then only when the link's queue has had time to empty. */
  pause(): void {
    this.#wanted = undefined
    this.#stop()
    this.pace.rest()
  }

  /** Takes a packet of a feed. */
  take(feed: Feed, packet: PacketLoan, sequence: number): void {
    // The burst takes it from the GOP.
    if (this.#burst.sending) return
    if (feed === this.#source && feed.picture.restarts !== this.#restarts) this.#renew(feed)
    if (feed === this.#next?.feed) {
      // Packets of its key frame may be kept already, and this one with them.
      if (this.#catchUp(this.#next)) return
      this.#adoptWith(this.#next, packet, sequence)
    }
    if (feed !== this.#source) return
    if (this.#limit === undefined) return this.#sender.sendLent(packet, sequence)
    this.pace.take(feed, packet, sequence, this.#limit.keyFramesOnly)
  }

  /** Requests a key frame, without which the viewer cannot go on. */
  requestKeyFrame(): void {
    const feed = this.#next?.feed ?? this.#source
    feed?.requestKeyFrame()
  }

  /** Sends a packet again that the viewer misses, within bounds; not of a feed that it is not shown any more. */
  sendAgain(number: number, now: number): void {
    this.#sender.sendAgain(number, this.#source, now)
  }

  /** Sends a packet of padding, to probe the link. Returns its bytes; 0 when none may be sent now. */
  sendPadding(): number {
    return this.hidden || this.#burst.sending ? 0 : this.#sender.sendPadding()
  }

  /** Sends the first pictures again to a viewer that cannot go on: they may have been lost. */
  repeatBurst(now: number): void {
    if (this.hidden || !this.#burst.mayRepeat(now)) return
    const feed = this.#source
    if (feed === undefined || this.#limit !== undefined || feed.gop.length === 0) return
    this.#wanted = { feed, limit: undefined }
    this.#burst.repeat(feed)
  }

  /** Goes on after the viewer moved to another network. @param silentMs time since its last report: what was sent meanwhile is lost */
  moved(now: number, silentMs: number): void {
    const repeat = this.#burst.restart(now, silentMs)
    this.#sender.moved()
    this.#estimate.queue.forget()
    this.#estimate.restart(now, startMs)
    if (repeat) this.repeatBurst(now)
  }

  /** Requests key frames again, once a second: a request, or the source's answer, may have been lost. */
  tick(now: number): void {
    this.#sender.tick(now)
    this.#burst.tick(now)
    this.#next?.feed.requestKeyFrame()
    if (this.#limit?.keyFramesOnly && this.pace.lacksKeyFrame(now)) this.#source?.requestKeyFrame()
  }

  /** Adopts the feed again with its next entry point: the times of its new stream may lie before those that were sent, and browsers drop such pictures. */
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

  /** Adopts the next feed at once where the pictures since its last key frame take but a moment. */
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

  /** Adopts the next feed where a packet begins a picture that can be decoded by itself. */
  #adoptWith(next: Next, { timestamp }: PacketLoan, sequence: number): void {
    const { feed, limit, partly } = next
    if (timestamp !== feed.picture.entry.timestamp || timestamp === partly) return
    this.#adopt(next)
    if (limit === undefined) this.#sender.begin(feed, sequence, this.#sender.timesOf(feed, timestamp))
    else this.pace.begin(feed, timestamp)
  }
}

/** Whether a viewer sees a picture. */
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
   * Shows a hidden picture again, now or after the interval.
   * @param now milliseconds of a clock that never goes back
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
