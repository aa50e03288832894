import type { SegmentEnd } from '../../../shared/recordings/segment.ts'
import type { Feed } from '../feeds/feed.ts'
import { wholeText } from '../base/media-log.ts'
import { type RecordingDependencies, StreamFiles, type StreamFacts } from './stream-files.ts'
import { RecordedState } from './recorded-state.ts'
import { Segmenter } from './segmenter.ts'
import { soundAssembly } from './sound-assembly.ts'
import { TrackInput } from './track-input.ts'

/** Interval of requests for a key frame of a person's picture, in milliseconds. */
const keyFrameEveryMs = 4_000
/**
 * Time for which another layer must be the largest before it is recorded, in milliseconds: each change begins a
 * segment.
 */
const layerAfterMs = 3_000

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
