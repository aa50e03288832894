import { type Backoff, backoffMs } from '../../../shared/backoff.ts'
import type { ConversionState } from '../../../shared/media/transcoding.ts'
import type { Feed, FeedConversion } from '../feeds/feed.ts'
import type { KeyPicture } from '../feeds/feed-tracks.ts'
import { Problem } from '../base/problem.ts'
import type { ClockPoint } from '../rtp/rtcp.ts'
import type { RtspTrack } from '../rtsp/description.ts'
import { ConversionRun, type Kind } from './conversion-run.ts'
import { ConvertedPackets } from './converted-packets.ts'
import { CameraStill } from './still-pictures.ts'
import type { SlotHolder, Transcoding } from './transcoding.ts'
import { codecName } from '../rtsp/codec-support.ts'
import { ConvertedInput } from './converted-input.ts'
import { sourceTrack } from './source-track.ts'

/** Interval of clock points derived from arrivals, in milliseconds. */
const arrivalMs = 1_000

/** Time that a conversion continues without viewers, in milliseconds, because people return and pages are reloaded. */
const lingerMs = 5_000
/** Waits before a failed process is restarted. The waits start over after a process ran for `steadyMs`. */
const ffmpegBackoff: Backoff = { first: 500, max: 30_000 }
const steadyMs = 30_000
/** Interval of the checks for hanging processes, in milliseconds. */
const checkMs = 1_000
/** Minimum interval of requests for key frames, in milliseconds. */
const keyFrameMs = 500

type Phase =
  | { name: 'idle' }
  /** Waiting for a free transcoder. */
  | { name: 'waiting' }
  | { name: 'running'; run: ConversionRun; since: number; check: NodeJS.Timeout }
  /**
   * The process ended by itself. `retry` is the timer of the restart; undefined: no restart is pending, because there
   * are no viewers.
   */
  | { name: 'failed'; problem: string; retry: NodeJS.Timeout | undefined }

/**
 * Conversion of one camera to codecs that browsers can play, while it has viewers. Pictures are converted to the codec
 * of the feed.
 */
export class CameraConversion implements SlotHolder, FeedConversion {
  readonly #transcoding: Transcoding
  readonly #feed: Feed
  readonly tracks = new ConvertedTracks()
  readonly #sync: TrackSync
  readonly #packets: ConvertedPackets
  readonly #still: CameraStill
  readonly #audience = new Audience(() => this.#stop())
  #phase: Phase = { name: 'idle' }
  /** Number of consecutive processes that did not run for `steadyMs`. */
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

  /**
   * Takes a packet of the camera, and does not keep or change the packet itself. Returns false if the packet must be
   * sent unchanged.
   */
  push(kind: Kind, packet: Buffer): boolean {
    if (!this.tracks.any) return false
    const now = performance.now()
    this.#sync.arrived(kind, packet, now)
    const input = this.tracks.inputs[kind]
    if (input === undefined) return false
    input.push(packet, now)
    return kind === 'audio' || !this.tracks.late || this.#phase.name === 'running'
  }

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
  requestKeyFrame(): void {
    const now = performance.now()
    if (now - this.#keyFrameAt < keyFrameMs) return
    this.#keyFrameAt = now
    if (this.#phase.name === 'running') this.#phase.run.requestKeyFrame()
  }

  still(): Promise<KeyPicture | undefined> | undefined {
    const { inputs, interlaced } = this.tracks
    if (inputs.video === undefined || this.#phase.name === 'running') return undefined
    if (this.#transcoding.program === undefined) return undefined
    // A single key picture of interlaced video is not always decodable alone, and a gray picture is worse than no
    // picture.
    return interlaced ? undefined : this.#still.newest(inputs.video)
  }

  giveWay(): void {
    this.#stop()
  }

  retry(): void {
    if (this.#audience.size > 0) this.#start()
  }

  /** Ends the conversion when the camera ends. */
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

/** Counts the viewers, and reports with a delay that the last viewer has left. */
class Audience {
  readonly #deserted: () => void
  #linger: NodeJS.Timeout | undefined
  size = 0

  /** @param deserted called when no viewer has returned in time */
  constructor(deserted: () => void) {
    this.#deserted = deserted
  }

  join(): void {
    this.endWait()
    this.size += 1
  }

  /**
   * Removes a viewer.
   * @param lingerMs time to wait for another viewer after the last viewer has left, in milliseconds; 0: no wait
   */
  leave(lingerMs: number): void {
    this.size -= 1
    if (this.size > 0) return
    if (lingerMs === 0) this.#deserted()
    else this.#linger = setTimeout(this.#deserted, lingerMs).unref()
  }

  /** Cancels the wait for another viewer. */
  endWait(): void {
    clearTimeout(this.#linger)
  }
}

/**
 * Synchronizes sound and picture of a converted camera by its sender reports or, without them, by the arrival of
 * packets.
 */
export class TrackSync {
  readonly #feed: Feed
  readonly #tracks: ConvertedTracks
  /** Whether the camera sends reports, by kind of media. */
  readonly #reported: Record<Kind, boolean> = { video: false, audio: false }
  /** Time of the last clock point derived from an arrival, by kind, in milliseconds of a monotonic clock. */
  readonly #arrivedAt: Record<Kind, number> = { video: -Infinity, audio: -Infinity }
  /** Offset of the camera's clock from the node's by its last report, in milliseconds. */
  #ahead = 0

  constructor(feed: Feed, tracks: ConvertedTracks) {
    this.#feed = feed
    this.#tracks = tracks
  }

  report(kind: Kind, point: ClockPoint): void {
    this.#reported[kind] = true
    this.#ahead = point.ntp - Date.now()
    this.#note(kind, point)
  }

  /**
   * Takes a packet of the camera. Converted media arrives late in the feed, so the feed cannot use its own arrival
   * times.
   */
  arrived(kind: Kind, packet: Buffer, now: number): void {
    if (this.#reported[kind] || now - this.#arrivedAt[kind] < arrivalMs) return
    this.#arrivedAt[kind] = now
    // Uses the clock of the other track's reports, so that the tracks can be compared.
    this.#note(kind, { ntp: Date.now() + this.#ahead, timestamp: packet.readUInt32BE(4), middle: 0 })
  }

  /** @param point time in the camera's timestamps */
  #note(kind: Kind, point: ClockPoint): void {
    const input = this.#tracks.inputs[kind]
    const timestamp = input === undefined ? point.timestamp : input.timestamp(input.clock.at(point.timestamp))
    this.#feed.clock(kind).reported({ ...point, timestamp }, Date.now())
  }
}

interface TrackConversion {
  interlaced?: boolean
  /**
   * Whether the need for a conversion was found in the stream, not in its description. Until a transcoder is free,
   * viewers get the unchanged pictures.
   */
  late?: boolean
}

/** Converted tracks of one camera. */
export class ConvertedTracks {
  readonly inputs: Partial<Record<Kind, ConvertedInput>> = {}
  readonly #codecs: string[] = []
  interlaced = false
  late = false

  /** Adds a track. Returns false if the track is already converted, or cannot be converted. */
  add(track: RtspTrack, { interlaced = false, late = false }: TrackConversion): boolean {
    const source = sourceTrack(track)
    if (source === undefined || this.inputs[track.kind] !== undefined) return false
    this.inputs[track.kind] = new ConvertedInput(track, source)
    this.#codecs.push(codecName(track))
    this.interlaced ||= interlaced
    this.late ||= late
    return true
  }

  get any(): boolean {
    return this.inputs.video !== undefined || this.inputs.audio !== undefined
  }

  get codecs(): string {
    return this.#codecs.join(', ')
  }
}
