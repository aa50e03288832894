import { type Backoff, backoffMs } from '../../../shared/backoff.ts'
import type { ConversionState } from '../../../shared/media/transcoding.ts'
import type { Feed } from '../feeds/feed.ts'
import type { FeedConversion } from '../feeds/feed-playback.ts'
import type { KeyPicture } from '../feeds/feed-format.ts'
import { Problem } from '../base/problem.ts'
import type { ClockPoint } from '../rtp/rtcp.ts'
import type { RtspTrack } from '../rtsp/description.ts'
import { ConversionRun, type Kind } from './conversion-run.ts'
import { ConvertedPackets } from './converted-packets.ts'
import { CameraStill } from './still-pictures.ts'
import type { Transcoding } from './transcoding.ts'
import type { SlotHolder } from './transcoder-slots.ts'
import { codecName } from '../rtsp/codec-support.ts'
import { ConvertedInput } from './converted-input.ts'
import { sourceTrack } from './source-track.ts'

/** Interval of clock points made from arrivals, in milliseconds. */
const arrivalMs = 1_000

/** Time that a conversion goes on without viewers, in milliseconds: people come back, and pages are reloaded. */
const lingerMs = 5_000
/** Waits after a process ended by itself; from the first again once one ran for `steadyMs`. */
const ffmpegBackoff: Backoff = { first: 500, max: 30_000 }
const steadyMs = 30_000
/** Interval of checks whether a process hangs, in milliseconds. */
const checkMs = 1_000
/** Interval between requests for key frames, at least, in milliseconds. */
const keyFrameMs = 500

/** Phase of a conversion. */
type Phase =
  | { name: 'idle' }
  /** No transcoder is free. */
  | { name: 'waiting' }
  | { name: 'running'; run: ConversionRun; since: number; check: NodeJS.Timeout }
  /** The process ended by itself; `retry` starts another, and is undefined once it found no viewers. */
  | { name: 'failed'; problem: string; retry: NodeJS.Timeout | undefined }

/** Conversion of one camera to codecs that browsers can play, while it has viewers: pictures to the codec of the feed. */
export class CameraConversion implements SlotHolder, FeedConversion {
  readonly #transcoding: Transcoding
  readonly #feed: Feed
  readonly tracks = new ConvertedTracks()
  readonly #sync: TrackSync
  readonly #packets: ConvertedPackets
  readonly #still: CameraStill
  readonly #audience = new Audience(() => this.#stop())
  #phase: Phase = { name: 'idle' }
  /** Processes in a row that did not run for `steadyMs`. */
  #failures = 0
  #keyFrameAt = -Infinity

  constructor(feed: Feed, transcoding: Transcoding) {
    this.#feed = feed
    this.#transcoding = transcoding
    this.#sync = new TrackSync(feed, this.tracks)
    this.#packets = new ConvertedPackets(feed)
    this.#still = new CameraStill(transcoding.stills)
  }

  get kind(): 'picture' | 'sound' {
    return this.pictures ? 'picture' : 'sound'
  }

  get idle(): boolean {
    return this.#audience.size === 0
  }

  get from(): string {
    return this.tracks.codecs
  }

  get pictures(): boolean {
    return this.tracks.inputs.video !== undefined
  }

  get state(): ConversionState {
    const phase = this.#phase
    if (phase.name !== 'running') return phase.name
    return phase.run.flowing ? 'running' : 'starting'
  }

  get problem(): string {
    return this.#phase.name === 'failed' ? this.#phase.problem : ''
  }

  /** Converts a track from now on. */
  convert(track: RtspTrack, how: TrackConversion = {}): void {
    if (!this.tracks.add(track, how)) return
    this.#stop()
    if (this.#audience.size > 0) this.#start()
  }

  /** Takes a packet of the camera, which stays the caller's. Returns false where it is to be passed on as it is. */
  push(kind: Kind, packet: Buffer): boolean {
    if (!this.tracks.any) return false
    const now = performance.now()
    this.#sync.arrived(kind, packet, now)
    const input = this.tracks.inputs[kind]
    if (input === undefined) return false
    input.push(packet, now)
    return kind === 'audio' || !this.tracks.late || this.#phase.name === 'running'
  }

  /** Takes a sender report of the camera. */
  report(kind: Kind, point: ClockPoint): void {
    this.#sync.report(kind, point)
  }

  prepare(): () => void {
    this.#audience.join()
    this.#start()
    if (this.#phase.name === 'waiting' && this.pictures && !this.tracks.late) {
      this.#leave()
      throw new Problem('transcoders')
    }
    let released = false
    return () => {
      if (!released) this.#leave()
      released = true
    }
  }

  /** Requests a key frame for a viewer that has lost its picture. */
  wishKeyFrame(): void {
    const now = performance.now()
    if (now - this.#keyFrameAt < keyFrameMs) return
    this.#keyFrameAt = now
    if (this.#phase.name === 'running') this.#phase.run.wishKeyFrame()
  }

  still(): Promise<KeyPicture | undefined> | undefined {
    const { inputs, interlaced } = this.tracks
    if (inputs.video === undefined || this.#phase.name === 'running') return undefined
    if (this.#transcoding.program === undefined) return undefined
    // One key picture of these does not always decode whole by itself: no picture is better than a grey one.
    return interlaced ? undefined : this.#still.newest(inputs.video)
  }

  giveWay(): void {
    this.#stop()
  }

  retry(): void {
    if (this.#audience.size > 0) this.#start()
  }

  /** Ends with the camera. */
  close(): void {
    this.#audience.size = 0
    this.#still.close()
    this.#stop()
  }

  #start(): void {
    const { program, runner, slots, log } = this.#transcoding
    const phase = this.#phase
    if (phase.name === 'running' || (phase.name === 'failed' && phase.retry !== undefined)) return
    if (program === undefined || !this.tracks.any) return
    if (!slots.take(this)) {
      slots.wait(this)
      this.#phase = { name: 'waiting' }
      return
    }
    if (this.pictures) this.#feed.changeSource()
    const run = new ConversionRun({
      runner,
      inputs: this.tracks.inputs,
      packets: this.#packets,
      interlaced: this.tracks.interlaced,
      log,
      ended: (why) => this.#ended(why),
    })
    const check = setInterval(() => this.#check(run), checkMs).unref()
    this.#phase = { name: 'running', run, since: performance.now(), check }
  }

  #check(run: ConversionRun): void {
    if (!run.hangs(performance.now())) return
    run.stop()
    this.#ended('it took in pictures or sound and gave out none')
  }

  #ended(why: string): void {
    if (this.#phase.name !== 'running') return
    const { since, check } = this.#phase
    clearInterval(check)
    if (performance.now() - since > steadyMs) this.#failures = 0
    this.#failures += 1
    const waitMs = backoffMs(ffmpegBackoff, this.#failures)
    this.#transcoding.log.warn('ffmpeg ended by itself', `${why}; it is started again in ${waitMs} ms`)
    const retry = setTimeout(() => {
      this.#phase = { name: 'failed', problem: why, retry: undefined }
      this.retry()
    }, waitMs).unref()
    this.#phase = { name: 'failed', problem: why, retry }
  }

  #leave(): void {
    this.#audience.leave(this.#phase.name === 'running' ? lingerMs : 0)
  }

  #stop(): void {
    const phase = this.#phase
    this.#phase = { name: 'idle' }
    this.#audience.endWait()
    if (phase.name === 'failed') clearTimeout(phase.retry)
    if (phase.name === 'running') {
      clearInterval(phase.check)
      phase.run.stop()
      if (this.pictures) this.#feed.changeSource()
    }
    this.#transcoding.slots.leave(this)
  }
}

/** Number of viewers, and the wait for more after the last one left. */
class Audience {
  readonly #deserted: () => void
  #linger: NodeJS.Timeout | undefined
  size = 0

  /** @param deserted called when no viewer has returned in time */
  constructor(deserted: () => void) {
    this.#deserted = deserted
  }

  /** Counts a viewer. */
  join(): void {
    this.endWait()
    this.size += 1
  }

  /**
   * Takes a viewer off the count.
   * @param lingerMs wait for others after the last one, in milliseconds; 0: none
   */
  leave(lingerMs: number): void {
    this.size -= 1
    if (this.size > 0) return
    if (lingerMs === 0) this.#deserted()
    else this.#linger = setTimeout(this.#deserted, lingerMs).unref()
  }

  /** Ends the wait for others. */
  endWait(): void {
    clearTimeout(this.#linger)
  }
}

/** Keeps sound and picture of a converted camera in step, by its sender reports or, where those are missing, by the arrival of packets. */
export class TrackSync {
  readonly #feed: Feed
  readonly #tracks: ConvertedTracks
  /** Kinds of which the camera sends reports. */
  readonly #reported: Record<Kind, boolean> = { video: false, audio: false }
  /** Time of the last clock point from an arrival. */
  readonly #arrivedAt: Record<Kind, number> = { video: -Infinity, audio: -Infinity }
  /** Milliseconds that the camera's clock is ahead of the node's, by its last report. */
  #ahead = 0

  constructor(feed: Feed, tracks: ConvertedTracks) {
    this.#feed = feed
    this.#tracks = tracks
  }

  /** Takes a sender report of the camera. */
  report(kind: Kind, point: ClockPoint): void {
    this.#reported[kind] = true
    this.#ahead = point.ntp - Date.now()
    this.#note(kind, point)
  }

  /** Takes a packet of the camera: converted media comes later than the rest, so that the feed cannot go by its own arrivals. */
  arrived(kind: Kind, packet: Buffer, now: number): void {
    if (this.#reported[kind] || now - this.#arrivedAt[kind] < arrivalMs) return
    this.#arrivedAt[kind] = now
    // Uses the clock of the reports of the other track, so that both tracks can be compared.
    this.#note(kind, { ntp: Date.now() + this.#ahead, timestamp: packet.readUInt32BE(4), middle: 0 })
  }

  /** @param point in timestamps of the camera */
  #note(kind: Kind, point: ClockPoint): void {
    const input = this.#tracks.inputs[kind]
    const timestamp = input === undefined ? point.timestamp : input.timestamp(input.clock.at(point.timestamp))
    this.#feed.clock(kind).reported({ ...point, timestamp }, Date.now())
  }
}

/** Conversion of a track. */
interface TrackConversion {
  interlaced?: boolean
  /** The stream itself showed that it has to be converted: until a transcoder is free, viewers get the pictures as they are. */
  late?: boolean
}

/** Tracks of one camera that are converted. */
export class ConvertedTracks {
  readonly inputs: Partial<Record<Kind, ConvertedInput>> = {}
  readonly #codecs: string[] = []
  interlaced = false
  late = false

  /** Returns false for a track that is converted already, or cannot be. */
  add(track: RtspTrack, { interlaced = false, late = false }: TrackConversion): boolean {
    const source = sourceTrack(track)
    if (source === undefined || this.inputs[track.kind] !== undefined) return false
    this.inputs[track.kind] = new ConvertedInput(track, source)
    this.#codecs.push(codecName(track))
    this.interlaced ||= interlaced
    this.late ||= late
    return true
  }

  /** Whether there is any. */
  get any(): boolean {
    return this.inputs.video !== undefined || this.inputs.audio !== undefined
  }

  /** Names of the codecs. */
  get codecs(): string {
    return this.#codecs.join(', ')
  }
}
