import type { GapReason, SegmentEnd } from '../../../shared/recordings/segment.ts'
import type { Feed } from '../feeds/feed.ts'
import { wholeText } from '../base/media-log.ts'
import { type RecordingParts, SegmentFiles, type StreamFacts } from './stream-files.ts'
import { Segmenter } from './segmenter.ts'
import { soundAssembly } from './sound-assembly.ts'
import { TrackInput } from './track-input.ts'

/** Time without a segment after which that is told as a gap, in milliseconds. */
const gapAfterMs = 2_000
/** Time between requests for a key frame of somebody's picture, in milliseconds. */
const keyFrameEveryMs = 4_000
/** Time for which another layer has to be the largest before it is recorded, in milliseconds: each change is a new segment. */
const layerAfterMs = 3_000

/** Recording of one stream. */
export class RecordedStream {
  readonly feed: Feed
  readonly #parts: RecordingParts
  readonly #facts: () => StreamFacts
  readonly #files: SegmentFiles
  readonly #segmenter: Segmenter
  readonly #sound: TrackInput | undefined
  #picture: { feed: Feed; input: TrackInput | undefined } | undefined
  /** Another layer that is the largest now, and since when. */
  #nextLayer: { feed: Feed; since: number } | undefined
  /** Since when nothing is recorded, by the wall clock, and the reason that was told; undefined: something is. */
  #gap: { since: number; told: GapReason | undefined } | undefined
  #keyFrameAt: number

  /** @param facts as they are when a segment begins */
  constructor(feed: Feed, facts: () => StreamFacts, parts: RecordingParts) {
    this.feed = feed
    this.#facts = facts
    this.#parts = parts
    this.#gap = { since: parts.wall(), told: undefined }
    this.#keyFrameAt = parts.now()
    this.#files = new SegmentFiles(facts, parts)
    const { format } = feed.raw.audio
    const sound = format && soundAssembly(format, () => {})
    const rate = format?.clockRate ?? 48_000
    this.#segmenter = new Segmenter(this.#files, sound?.format, rate, feed.video !== undefined)
    const isMuted = (): boolean => feed.sound.muted
    this.#sound = format && TrackInput.sound(feed.raw.audio, format, { ...this.#inputOptions(), isMuted })
    if (format !== undefined && this.#sound === undefined) {
      const { roomId, userId } = facts()
      parts.log.info('recordings: sound is left out', `${userId} in ${roomId}: ${format.codec} is not recorded`)
    }
    const first = feed.layers === undefined ? feed : (feed.layers.list[0]?.feed ?? feed.layers.all[0]?.feed)
    if (feed.video !== undefined && first !== undefined) this.#take(first)
  }

  /** Time passes: several times a second. */
  tick(): void {
    const now = this.#parts.now()
    this.#segmenter.tick(now)
    this.#followLayers(now)
    if (this.#files.isClockSet) this.#segmenter.cut('clock')
    if (!this.#facts().device && now - this.#keyFrameAt > keyFrameEveryMs) {
      this.#keyFrameAt = now
      this.#picture?.feed.requestKeyFrame()
    }
    if (this.#segmenter.isOpen) this.#gap = undefined
    else this.#noteGap(now)
  }

  /** Ends it. Resolves when its files are complete; never rejects. */
  async end(reason: SegmentEnd): Promise<void> {
    this.#segmenter.end(reason, this.#parts.now())
    this.#sound?.close()
    this.#picture?.input?.close()
    await this.#files.end()
  }

  /** Takes the largest layer that comes, once it has been that for a while. */
  #followLayers(now: number): void {
    const largest = this.feed.layers?.list[0]?.feed
    if (largest === undefined || largest === this.#picture?.feed) {
      this.#nextLayer = undefined
      return
    }
    if (this.#nextLayer?.feed !== largest) this.#nextLayer = { feed: largest, since: now }
    // The first one is the first that came: nothing was recorded of it if it is silent.
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
    const { now, log } = this.#parts
    const failed = (error: unknown): void => {
      const { roomId, userId } = this.#facts()
      log.error('recordings: a track could not be read', `${userId} in ${roomId}: ${wholeText(error)}`)
    }
    return { segmenter: this.#segmenter, now, failed }
  }

  #noteGap(now: number): void {
    const at = this.#parts.wall()
    const gap = (this.#gap ??= { since: this.#files.endedAt ?? at, told: undefined })
    if (at - gap.since < gapAfterMs) return
    const reason = this.#whyNothing(now)
    if (reason === gap.told) return
    const from = gap.told === undefined ? gap.since : at
    gap.told = reason
    const { roomId, userId, source, quality } = this.#facts()
    this.#parts.emit({
      type: 'recordingGap',
      gap: { roomId, userId, source, quality, from, to: null, reason },
    })
  }

  #whyNothing(now: number): GapReason {
    const { trouble } = this.#parts.disk
    if (trouble !== undefined) return trouble
    if (this.#picture?.input === undefined && this.#sound === undefined) return 'codec'
    const isSilent = now - this.#segmenter.receivedAt > gapAfterMs
    return !isSilent && this.#segmenter.lacksKey ? 'noKeyFrame' : 'silent'
  }
}
