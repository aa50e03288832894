import { sleep } from '../../shared/sleep.ts'
import Hls from 'hls.js/light'
import type { LivePicture } from '../../shared/recordings/live-picture.ts'
import { WebmFeed } from './webm-feed.ts'

/** State of the player, for the page. */
export type PlayerState = 'waiting' | 'living' | 'over' | 'impossible' | 'unreachable' | 'unsupported'

/** Events that the player reports to its page. */
export interface PlayerEvents {
  state(state: PlayerState): void
  named(name: string): void
  /** `silent`: the stream has no sound, or its recording was ordered without. */
  silent(silent: boolean): void
}

/** Waits between two attempts, in milliseconds. */
const retryMs = 2_000
/** Interval of requests for the state of a stream played by HLS, in milliseconds. */
const factsMs = 5_000

/** Plays a live stream: H.264 and H.265 by HLS, VP8 by fragments. Resumes by itself after failures. */
export class LivePlayer {
  readonly #video: HTMLVideoElement
  readonly #base: string
  readonly #events: PlayerEvents
  #hls: Hls | undefined
  #feed: WebmFeed | undefined

  /** @param base address of the stream with a slash at its end */
  constructor(video: HTMLVideoElement, base: string, events: PlayerEvents) {
    this.#video = video
    this.#base = base
    this.#events = events
  }

  /** Seconds from the recorded moment to its picture; undefined: not known yet. */
  get latency(): number | undefined {
    const playing = this.#hls?.playingDate
    if (playing) return (Date.now() - playing.getTime()) / 1_000
    return this.#feed?.latency
  }

  /** Runs until the stream has ended. */
  async run(): Promise<void> {
    for (;;) {
      const facts = await this.#facts().catch(() => undefined)
      if (facts === undefined) this.#events.state('unreachable')
      else if (facts.state === 'over') break
      else await this.#show(facts)
      // With a feed, the server delays its answer until the next fragment: no pause is needed.
      if (facts?.state !== 'living' || this.#feed === undefined)
        await sleep(facts?.state === 'living' ? factsMs : retryMs)
    }
    this.#hls?.destroy()
    this.#video.removeAttribute('src')
    this.#video.load()
    this.#events.state('over')
  }

  async #show(facts: LivePicture): Promise<void> {
    if (facts.state !== 'living') return this.#events.state(facts.state)
    this.#events.named(facts.name)
    this.#events.silent(!facts.sound || !/opus|mp4a/.test(facts.codecs))
    if (facts.container === 'webm') return await this.#showWebm(facts)
    this.#feed = undefined
    this.#events.state(this.#showHls() ? 'living' : 'unsupported')
  }

  async #showWebm(facts: LivePicture): Promise<void> {
    if (!WebmFeed.plays(facts.codecs)) return this.#events.state('unsupported')
    this.#hls?.destroy()
    this.#hls = undefined
    this.#feed ??= new WebmFeed(this.#video, this.#base)
    try {
      await this.#feed.add(facts)
      this.#events.state('living')
    } catch {
      // The next pass starts again.
      this.#feed = undefined
      await sleep(retryMs)
    }
  }

  #showHls(): boolean {
    if (this.#hls !== undefined) return true
    const playlist = `${this.#base}index.m3u8`
    if (!Hls.isSupported()) {
      if (this.#video.canPlayType('application/vnd.apple.mpegurl') === '') return false
      if (this.#video.src !== playlist) this.#video.src = playlist
      return true
    }
    const hls = new Hls({
      liveSyncDurationCount: 2,
      liveMaxLatencyDurationCount: 8,
      maxLiveSyncPlaybackRate: 1.1,
      backBufferLength: 30,
      // Without a worker, which the package would load from a blob, everything runs in the page.
      enableWorker: false,
    })
    hls.on(Hls.Events.ERROR, (_event, { fatal, type }) => {
      if (!fatal) return
      if (type === Hls.ErrorTypes.MEDIA_ERROR) return hls.recoverMediaError()
      hls.destroy()
      if (this.#hls === hls) this.#hls = undefined
    })
    hls.loadSource(playlist)
    hls.attachMedia(this.#video)
    this.#hls = hls
    return true
  }

  async #facts(): Promise<LivePicture> {
    const after = this.#feed === undefined ? '' : `?after=${Math.floor(this.#feed.end)}`
    const answer = await fetch(`${this.#base}stream.json${after}`)
    return (await answer.json()) as LivePicture
  }
}
