import type { RecordingState } from '../../../shared/recordings/recording-state.ts'
import type { GapReason, SegmentEnd } from '../../../shared/recordings/segment.ts'
import { wholeText } from '../base/media-log.ts'
import type { Feed } from '../feeds/feed.ts'
import type { RawFormat, RawSink, RawTap } from '../feeds/raw-tap.ts'
import { timestampOf } from '../rtp/packet.ts'
import type { ClockPoint } from '../rtp/rtcp.ts'
import type { FrameAssembly } from '../transcode/frame-assembly.ts'
import { PacketSequence } from '../rtp/packet-sequence.ts'
import { pictureAssembly } from './picture-assembly.ts'
import { Segmenter } from './segmenter.ts'
import { soundAssembly } from './sound-assembly.ts'
import { type RecordingDependencies, type StreamFacts, StreamFiles } from './stream-files.ts'

/** Interval of requests for a key frame of a person's picture, in milliseconds. */
const keyFrameEveryMs = 4_000
/**
 * Time for which another layer must be the largest before it is recorded, in milliseconds: each change begins a
 * segment.
 */
const layerAfterMs = 3_000

/**
 * Maximum number of packets held behind a gap, until a browser has repeated a lost packet or a late UDP packet arrives.
 */
const maxWaiting = { picture: 256, sound: 5 } as const

/** Maximum time that packets are held, in milliseconds. */
const maxWaitMs = 800

/** Time without a segment after which a gap is reported, in milliseconds. */
const gapAfterMs = 2_000

export class StreamRecorder {
  readonly feed: Feed
  readonly #dependencies: RecordingDependencies
  readonly #facts: () => StreamFacts
  readonly #files: StreamFiles
  readonly #segmenter: Segmenter
  readonly #sound: TrackInput | undefined
  #picture: { feed: Feed; input: TrackInput | undefined } | undefined
  /** Largest layer, if it is not recorded yet, and the time since it is the largest. */
  #nextLayer: { feed: Feed; since: number } | undefined
  readonly #state: RecordedState
  #keyFrameAt: number

  /** @param facts returns the current facts when a segment begins */
  constructor(feed: Feed, facts: () => StreamFacts, dependencies: RecordingDependencies) {
    this.feed = feed
    this.#facts = facts
    this.#dependencies = dependencies
    this.#state = new RecordedState(dependencies.wall())
    this.#keyFrameAt = dependencies.now()
    this.#files = new StreamFiles(facts, feed.playback, dependencies)
    const { format } = feed.raw.audio
    const sound = format && soundAssembly(format, () => {})
    const rate = format?.clockRate ?? 48_000
    this.#segmenter = new Segmenter(this.#files, sound?.format, rate, feed.video !== undefined)
    const isMuted = (): boolean => feed.sound.muted
    this.#sound = format && TrackInput.sound(feed.raw.audio, format, { ...this.#inputOptions(), isMuted })
    if (format !== undefined && this.#sound === undefined) {
      const { roomId, userId } = facts()
      dependencies.log.info('recordings: sound is left out', `${userId} in ${roomId}: ${format.codec} is not recorded`)
    }
    const first = feed.layers === undefined ? feed : (feed.layers.list[0]?.feed ?? feed.layers.all[0]?.feed)
    if (feed.video !== undefined && first !== undefined) this.#take(first)
  }

  /** Checks time-dependent conditions. Called several times a second. */
  tick(): void {
    const now = this.#dependencies.now()
    this.#segmenter.tick(now)
    this.#followLayers(now)
    if (this.#files.isClockSet) this.#segmenter.endAtKeyFrame('clock')
    if (!this.#facts().device && now - this.#keyFrameAt > keyFrameEveryMs) {
      this.#keyFrameAt = now
      this.#picture?.feed.requestKeyFrame()
    }
    if (this.#segmenter.isOpen) this.#state.began()
    else this.#noteGap(now)
  }

  /** Ends the recording. Resolves when its files are complete; never rejects. */
  async end(reason: SegmentEnd): Promise<void> {
    this.#segmenter.end(reason, this.#dependencies.now())
    this.#sound?.close()
    this.#picture?.input?.close()
    await this.#files.end()
  }

  /** Switches to the largest available layer after it has been the largest for `layerAfterMs`. */
  #followLayers(now: number): void {
    const largest = this.feed.layers?.list[0]?.feed
    if (largest === undefined || largest === this.#picture?.feed) {
      this.#nextLayer = undefined
      return
    }
    if (this.#nextLayer?.feed !== largest) this.#nextLayer = { feed: largest, since: now }
    // Without an open segment, nothing is interrupted, so the switch is immediate.
    if (this.#segmenter.isOpen && now - this.#nextLayer.since < layerAfterMs) return
    this.#nextLayer = undefined
    this.#take(largest)
  }

  /** Records the picture of this feed from now on. */
  #take(feed: Feed): void {
    if (this.#picture !== undefined) {
      this.#picture.input?.close()
      this.#segmenter.endPicture('format')
    }
    const { format } = feed.raw.video
    const options = { ...this.#inputOptions(), isMuted: () => feed.videoMuted }
    this.#picture = { feed, input: format && TrackInput.picture(feed.raw.video, format, options) }
    feed.requestKeyFrame()
  }

  #inputOptions() {
    const { now, log } = this.#dependencies
    const failed = (error: unknown): void => {
      const { roomId, userId } = this.#facts()
      log.error('recordings: a track could not be read', `${userId} in ${roomId}: ${wholeText(error)}`)
    }
    return { segmenter: this.#segmenter, now, failed }
  }

  #noteGap(now: number): void {
    const { disk, wall, controller } = this.#dependencies
    const missed = this.#state.missed(wall(), this.#files.endedAt, () => ({
      trouble: disk.trouble,
      hasTrack: this.#picture?.input !== undefined || this.#sound !== undefined,
      silentMs: now - this.#segmenter.receivedAt,
      lacksKey: this.#segmenter.lacksKey,
    }))
    if (missed === undefined) return
    const { roomId, userId, source, quality } = this.#facts()
    const gap = { roomId, userId, source, quality, ...missed, to: null }
    controller.notify('recorder', { event: { type: 'recordingGap', gap } })
  }
}

interface InputOptions {
  segmenter: Segmenter
  /** Milliseconds of a monotonic clock. */
  now: () => number
  /** Returns whether a host has muted the track. Packets of a muted track are not recorded. */
  isMuted: () => boolean
  failed: (error: unknown) => void
}

/** Passes one track from its source to the segmenter. */
export class TrackInput implements RawSink {
  readonly #kind: 'picture' | 'sound'
  readonly #tap: RawTap
  readonly #options: InputOptions
  readonly #sequence: PacketSequence
  readonly #assembly: FrameAssembly
  #wasMuted = false
  /** Time when the source sent the current packet, in milliseconds of a monotonic clock. */
  #arrivedAt: number

  private constructor(kind: 'picture' | 'sound', tap: RawTap, assembly: FrameAssembly, options: InputOptions) {
    this.#kind = kind
    this.#tap = tap
    this.#options = options
    this.#assembly = assembly
    this.#arrivedAt = options.now()
    this.#sequence = new PacketSequence(maxWaiting[kind], (packet) => this.#assembly.push(packet), {
      keep: (packet) => Buffer.from(packet),
      maxMs: maxWaitMs,
      now: options.now,
    })
    tap.add(this)
  }

  /** Creates the input of a tap's picture. Returns undefined if its codec is not recorded. */
  static picture(tap: RawTap, format: RawFormat, options: InputOptions): TrackInput | undefined {
    const { segmenter, now } = options
    const assembly = pictureAssembly(format, ({ timestamp, frame, key, leads = false, format: picture }) => {
      const at = now()
      const ticks = segmenter.received('picture', timestamp, at)
      segmenter.picture({ ticks, data: frame, key, leads, format: picture }, at)
    })
    if (assembly === undefined) return undefined
    const input = new TrackInput('picture', tap, assembly, options)
    if (!options.isMuted()) for (const packet of tap.recent()) input.rtp(packet)
    return input
  }

  /** Creates the input of a tap's sound. Returns undefined if its codec is not recorded. */
  static sound(tap: RawTap, format: RawFormat, options: InputOptions): TrackInput | undefined {
    const { segmenter, now } = options
    const sound = soundAssembly(format, ({ timestamp, data, durationMs }) => {
      const ticks = segmenter.received('sound', timestamp, input === undefined ? now() : input.#arrivedAt)
      segmenter.sound({ ticks, data, durationMs }, now())
    })
    const input = sound && new TrackInput('sound', tap, sound.assembly, options)
    return input
  }

  rtp(packet: Buffer, arrivedAt?: number): void {
    const { segmenter, now, isMuted } = this.#options
    this.#arrivedAt = arrivedAt ?? now()
    const muted = isMuted()
    if (muted && this.#kind === 'picture' && !this.#wasMuted) segmenter.endPicture()
    if (this.#wasMuted && !muted) this.#sequence.restart()
    this.#wasMuted = muted
    if (!muted) return this.#sequence.push(packet)
    // Keeps the muted track alive, so that silence replaces its sound.
    if (this.#kind === 'sound') segmenter.received('sound', timestampOf(packet), now())
  }

  report(point: ClockPoint): void {
    this.#options.segmenter.reported(this.#kind, point)
  }

  failed(error: unknown): void {
    this.#options.failed(error)
  }

  close(): void {
    this.#tap.remove(this)
  }
}

/** States that the node of a stream can determine. */
type NodeState = Extract<RecordingState, 'recording' | 'pending' | StreamReason>

/** Reasons that concern one stream. The other reasons concern a whole room or node. */
type StreamReason = Extract<GapReason, 'silent' | 'noKeyFrame' | 'codec' | 'diskFull' | 'failed'>

/** Facts that determine why no segment of a stream is being written. */
export interface StreamObservation {
  /** Reason why the disk accepts no data; undefined: the disk accepts data. */
  trouble: Extract<StreamReason, 'diskFull' | 'failed'> | undefined
  /** Whether a track has a format that can be recorded. */
  hasTrack: boolean
  /** Time since the last packet, in milliseconds. */
  silentMs: number
  /** Whether pictures arrive but no segment can begin with them. */
  lacksKey: boolean
}

/** Reasons with their conditions; the first match applies. */
const reasons: readonly (readonly [StreamReason, (observed: StreamObservation) => boolean])[] = [
  ['diskFull', ({ trouble }) => trouble === 'diskFull'],
  ['failed', ({ trouble }) => trouble === 'failed'],
  ['codec', ({ hasTrack }) => !hasTrack],
  ['noKeyFrame', ({ lacksKey, silentMs }) => lacksKey && silentMs <= gapAfterMs],
]

/**
 * Recording state of one stream: whether it is recorded, otherwise the start and reason of the gap. Times are
 * milliseconds since the epoch.
 */
export class RecordedState {
  #state: NodeState = 'pending'
  #since: number

  /** @param at time from which the stream should be recorded */
  constructor(at: number) {
    this.#since = at
  }

  /** Records that a segment is being written. */
  began(): void {
    this.#state = 'recording'
  }

  /**
   * Records that no segment is being written.
   * @param endedAt end of the last segment; undefined: no segment yet
   * @returns the gap to report; undefined: none, or the reported gap continues
   */
  missed(
    at: number,
    endedAt: number | undefined,
    observe: () => StreamObservation,
  ): { from: number; reason: GapReason } | undefined {
    if (this.#state === 'recording') this.#ended(endedAt ?? at)
    if (at - this.#since < gapAfterMs) return undefined
    const observed = observe()
    const reason = reasons.find(([, holds]) => holds(observed))?.[0] ?? 'silent'
    if (reason === this.#state) return undefined
    const from = this.#state === 'pending' ? this.#since : at
    this.#state = reason
    return { from, reason }
  }

  #ended(at: number): void {
    this.#state = 'pending'
    this.#since = at
  }
}
