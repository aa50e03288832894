import { type Backoff, backoffMs } from '../../../shared/backoff.ts'
import type { ConversionState } from '../../../shared/media/transcoding.ts'
import type { Feed } from '../feeds/feed.ts'
import type { FeedConversion } from '../feeds/feed-playback.ts'
import type { KeyPicture } from '../feeds/feed-format.ts'
import { Problem } from '../base/problem.ts'
import type { ClockPoint } from '../rtp/rtcp.ts'
import { codecName } from '../rtsp/codec-support.ts'
import type { RtspTrack } from '../rtsp/description.ts'
import { ConversionRun, type Kind } from './conversion-run.ts'
import { ConvertedInput } from './converted-input.ts'
import { ConvertedPackets } from './converted-packets.ts'
import { sourceTrack } from './source-track.ts'
import { CameraStill } from './still-pictures.ts'
import type { Transcoding } from './transcoding.ts'
import type { SlotHolder } from './transcoder-slots.ts'

/** After the last viewer left it goes on for so long, in milliseconds: people come back, and pages are loaded anew. */
const lingerMs = 5_000
/** Waits after a process ended by itself; from the first again once one ran for `steadyMs`. */
const ffmpegBackoff: Backoff = { first: 500, max: 30_000 }
const steadyMs = 30_000
const lookMs = 1_000
/** Key frames are wished for no more often. */
const wishMs = 500

/** Of one camera, what browsers cannot play made playable, while somebody watches. */
export class CameraConversion implements SlotHolder, FeedConversion {
  readonly #transcoding: Transcoding
  readonly #feed: Feed
  readonly #inputs: Partial<Record<Kind, ConvertedInput>> = {}
  readonly #packets: ConvertedPackets
  readonly #still: CameraStill
  /** Begun in the middle: until there is a place for it, viewers have the pictures as they are. */
  #late = false
  #interlaced = false
  readonly #from: string[] = []
  #viewers = 0
  #run: ConversionRun | undefined
  #runSince = 0
  #failures = 0
  #problem = ''
  #state: ConversionState = 'idle'
  #linger: NodeJS.Timeout | undefined
  #again: NodeJS.Timeout | undefined
  #look: NodeJS.Timeout | undefined
  #wishedAt = -Infinity
  /** The camera's own reports tie sound and picture together. */
  readonly #reported: Record<Kind, boolean> = { video: false, audio: false }
  readonly #tiedAt: Record<Kind, number> = { video: -Infinity, audio: -Infinity }

  constructor(feed: Feed, transcoding: Transcoding) {
    this.#feed = feed
    this.#transcoding = transcoding
    this.#packets = new ConvertedPackets(feed)
    this.#still = new CameraStill(transcoding.stills)
  }

  get kind(): 'picture' | 'sound' {
    return this.pictures ? 'picture' : 'sound'
  }

  get idle(): boolean {
    return this.#viewers === 0
  }

  get from(): string {
    return this.#from.join(', ')
  }

  get pictures(): boolean {
    return this.#inputs.video !== undefined
  }

  get state(): ConversionState {
    return this.#state
  }

  /** What went wrong last; empty when it runs. */
  get problem(): string {
    return this.#state === 'failed' ? this.#problem : ''
  }

  /** A track is converted from now on. @param late it was found out in the middle that it has to be */
  convert(track: RtspTrack, { interlaced = false, late = false } = {}): void {
    const source = sourceTrack(track)
    if (source === undefined || this.#inputs[track.kind] !== undefined) return
    this.#stop('idle')
    this.#inputs[track.kind] = new ConvertedInput(track, source)
    this.#from.push(codecName(track))
    this.#interlaced ||= interlaced
    this.#late ||= late
    if (this.#viewers > 0) this.#start()
  }

  /** Takes a packet of the camera, which stays the caller's. Returns whether it is not passed on as it is. */
  push(kind: Kind, packet: Buffer): boolean {
    const input = this.#inputs[kind]
    if (!this.#active) return false
    const now = performance.now()
    this.#tie(kind, packet, now)
    if (input === undefined) return false
    input.push(packet, now)
    return kind === 'audio' || !this.#late || this.#run !== undefined
  }

  /** A sender report of the camera. */
  report(kind: Kind, point: ClockPoint): void {
    this.#reported[kind] = true
    this.#note(kind, point)
  }

  /**
   * Somebody is about to watch. Returns what is to be called when they no longer do.
   * @throws Problem transcoders when every one is in use
   */
  prepare(): () => void {
    clearTimeout(this.#linger)
    this.#viewers += 1
    this.#start()
    if (this.#state === 'waiting' && this.#inputs.video !== undefined && !this.#late) {
      this.#leave()
      throw new Problem('transcoders')
    }
    let released = false
    return () => {
      if (!released) this.#leave()
      released = true
    }
  }

  /** A viewer has lost its picture. */
  wishKeyFrame(): void {
    const now = performance.now()
    if (now - this.#wishedAt < wishMs) return
    this.#wishedAt = now
    this.#run?.wishKeyFrame()
  }

  still(): Promise<KeyPicture | undefined> | undefined {
    const { video } = this.#inputs
    if (video === undefined || this.#run !== undefined || this.#transcoding.program === undefined) return undefined
    // One key picture of these does not always decode whole by itself: no picture is better than a grey one.
    if (this.#interlaced) return undefined
    return this.#still.newest(video)
  }

  giveWay(): void {
    this.#stop('idle')
  }

  retry(): void {
    if (this.#viewers > 0 && this.#run === undefined) this.#start()
  }

  /** The camera is over. */
  close(): void {
    this.#viewers = 0
    this.#still.close()
    this.#stop('idle')
  }

  get #active(): boolean {
    return this.#inputs.video !== undefined || this.#inputs.audio !== undefined
  }

  #start(): void {
    const { program, runner, slots } = this.#transcoding
    if (this.#run !== undefined || this.#again !== undefined) return
    if (program === undefined || !this.#active) return
    if (!slots.take(this)) {
      slots.wait(this)
      this.#state = 'waiting'
      return
    }
    this.#feed.forget()
    this.#state = 'starting'
    this.#runSince = performance.now()
    this.#run = new ConversionRun({
      runner,
      inputs: this.#inputs,
      packets: this.#packets,
      interlaced: this.#interlaced,
      log: this.#transcoding.log,
      ended: (why) => this.#ended(why),
    })
    this.#look = setInterval(() => this.#watch(), lookMs).unref()
  }

  #watch(): void {
    if (this.#run?.flowing === true) this.#state = 'running'
    if (this.#run?.hangs(performance.now()) !== true) return
    this.#run.stop()
    this.#ended('it took in pictures or sound and gave out none')
  }

  #ended(why: string): void {
    const { log } = this.#transcoding
    if (performance.now() - this.#runSince > steadyMs) this.#failures = 0
    this.#failures += 1
    const waitMs = backoffMs(ffmpegBackoff, this.#failures)
    this.#problem = why
    this.#run = undefined
    clearInterval(this.#look)
    this.#state = 'failed'
    log.warn('ffmpeg ended by itself', `${why}; it is started again in ${waitMs} ms`)
    this.#again = setTimeout(() => {
      this.#again = undefined
      if (this.#viewers > 0) this.#start()
    }, waitMs).unref()
  }

  #leave(): void {
    this.#viewers -= 1
    if (this.#viewers > 0) return
    if (this.#run === undefined) return this.#stop('idle')
    this.#linger = setTimeout(() => this.#stop('idle'), lingerMs).unref()
  }

  #stop(state: ConversionState): void {
    for (const timer of [this.#linger, this.#again, this.#look]) clearTimeout(timer)
    this.#again = undefined
    this.#run?.stop()
    if (this.#run !== undefined) this.#feed.forget()
    this.#run = undefined
    this.#state = state
    this.#transcoding.slots.leave(this)
  }

  /** Where the camera does not report of both, what arrives together belongs together: what is made comes later than what is passed on. */
  #tie(kind: Kind, packet: Buffer, now: number): void {
    const { video, audio } = this.#reported
    if ((video && audio) || now - this.#tiedAt[kind] < lookMs) return
    this.#tiedAt[kind] = now
    this.#note(kind, { ntp: Date.now(), timestamp: packet.readUInt32BE(4), middle: 0 })
  }

  /** @param point by the camera's own timestamps */
  #note(kind: Kind, point: ClockPoint): void {
    const input = this.#inputs[kind]
    const timestamp = input === undefined ? point.timestamp : input.timestamp(input.clock.at(point.timestamp))
    this.#feed.clock(kind).reported({ ...point, timestamp }, Date.now())
  }
}
