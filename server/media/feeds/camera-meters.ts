import type { CameraMeasure } from '../../../shared/media/camera-measure.ts'
import { hasMarker, sequenceDistance, sequenceOf, ssrcOf } from '../rtp/packet.ts'
import { ReceptionCounts } from '../rtp/reception.ts'
import type { Feed } from './feed.ts'

/** Interval of samples, in milliseconds. */
const sampleMs = 5_000
const minuteMs = 60_000
/** Number of full minutes whose measures are kept, also after the pull of the camera ended. */
const keptMinutes = 60
/** Gap in sequence numbers above which a stream counts as restarted. A smaller gap counts as lost packets. */
const widestGap = 1_000

interface Totals {
  at: number
  bytes: number
  frames: number
  keyFrames: number
  expected: number
  received: number
}

/** Counts the packets of a camera before any processing. Keeps at most 61 measures. */
class CameraMeter {
  readonly #video = new ReceptionCounts()
  #ssrc = 0
  #clockAhead: number | undefined
  #bytes = 0
  #frames = 0
  /** Counts of the streams before the last restart. */
  readonly #before = { expected: 0, received: 0 }
  #last: Totals | undefined
  #minuteBegan: Totals | undefined
  #now: CameraMeasure | undefined
  readonly #minutes: CameraMeasure[] = []

  /** Time of the last sample, in milliseconds since the epoch; 0 before the first. */
  get sampledAt(): number {
    return this.#last?.at ?? 0
  }

  /** Measure of the last seconds; undefined before the second sample. */
  get now(): CameraMeasure | undefined {
    return this.#now
  }

  /** Offset of the camera's clock from this machine's, in milliseconds; undefined if the camera sends no time. */
  get clockAhead(): number | undefined {
    return this.#clockAhead
  }

  /** Measures of full minutes, oldest first. */
  get minutes(): readonly CameraMeasure[] {
    return this.#minutes
  }

  /**
   * Takes the time of a sender report. A camera with a time before 1970 has no clock and sends the time since its start
   * (RFC 3550, section 6.4.1).
   * @param ntp milliseconds since the epoch
   * @param at milliseconds since the epoch
   */
  noteClock(ntp: number, at: number): void {
    this.#clockAhead = ntp < 0 ? undefined : ntp - at
  }

  note(kind: 'video' | 'audio' | 'other', packet: Buffer): void {
    this.#bytes += packet.length
    if (kind !== 'video') return
    if (hasMarker(packet)) this.#frames += 1
    const counts = this.#video
    const sequence = sequenceOf(packet)
    const ssrc = ssrcOf(packet)
    const ahead = sequenceDistance(counts.highest, sequence)
    if (counts.highest < 0 || ssrc !== this.#ssrc || Math.abs(ahead) > widestGap) {
      this.#before.expected += counts.expected
      this.#before.received += counts.received
      this.#ssrc = ssrc
      counts.begin(sequence)
      counts.received = 1
    } else if (ahead > 0) counts.advance(sequence)
    else if (ahead < 0) counts.received += 1
  }

  /**
   * Takes a sample.
   * @param keyFrames number of key frames of the feed so far; undefined if key frames are not counted
   * @param at milliseconds since the epoch
   */
  sample(keyFrames: number | undefined, at: number): void {
    const totals: Totals = {
      at,
      bytes: this.#bytes,
      frames: this.#frames,
      keyFrames: keyFrames ?? 0,
      expected: this.#before.expected + this.#video.expected,
      received: this.#before.received + this.#video.received,
    }
    const minute = (this.#minuteBegan ??= totals)
    const isMinute = at - minute.at >= minuteMs
    // Key frames are rarer than samples, so their interval is measured over the current minute so far, or over the last
    // minute.
    const distance =
      keyFrames === undefined ? null : (keyDistance(minute, totals) ?? this.#minutes.at(-1)?.key_frame_ms ?? null)
    if (this.#last !== undefined && at > this.#last.at) {
      this.#now = { ...measureOf(this.#last, totals), key_frame_ms: distance }
    }
    this.#last = totals
    if (!isMinute) return
    this.#minutes.push({
      ...measureOf(minute, totals),
      key_frame_ms: keyFrames === undefined ? null : keyDistance(minute, totals),
    })
    if (this.#minutes.length > keptMinutes) this.#minutes.shift()
    this.#minuteBegan = totals
  }

  /**
   * Begins a new pull of the camera. The measures of earlier minutes are kept. The time without a pull is not counted.
   */
  begin(): void {
    this.#last = undefined
    this.#minuteBegan = undefined
    this.#now = undefined
    this.#clockAhead = undefined
  }
}

function measureOf(before: Totals, after: Totals): Omit<CameraMeasure, 'key_frame_ms'> {
  const seconds = (after.at - before.at) / 1_000
  const expected = after.expected - before.expected
  const lost = expected - (after.received - before.received)
  return {
    at: after.at,
    bitrate: Math.round(((after.bytes - before.bytes) * 8) / seconds),
    frame_rate: Math.round(((after.frames - before.frames) * 10) / seconds) / 10,
    loss: expected > 0 ? Math.min(1, Math.max(0, lost / expected)) : 0,
  }
}

function keyDistance(before: Totals, after: Totals): number | null {
  const count = after.keyFrames - before.keyFrames
  return count > 0 ? Math.round((after.at - before.at) / count) : null
}

interface Metered {
  meter: CameraMeter
  /** Feed of the current pull; undefined if the camera is not pulled. */
  feed: Feed | undefined
}

/**
 * Meters of all cameras, sampled by one timer while any camera is pulled. The measures of a camera continue when the
 * camera is pulled again.
 */
export class CameraMeters {
  readonly #byCamera = new Map<string, Metered>()
  readonly #byFeed = new WeakMap<Feed, CameraMeter>()
  #timer: NodeJS.Timeout | undefined

  /** Returns the meter of a camera whose pull begins. @param key identifies the camera's pull */
  begin(key: string): CameraMeter {
    const there = this.#byCamera.get(key)
    const meter = there?.meter ?? new CameraMeter()
    meter.begin()
    this.#byCamera.set(key, { meter, feed: undefined })
    return meter
  }

  /** Starts sampling when the camera's media arrives in a feed. */
  flows(key: string, feed: Feed): void {
    const metered = this.#byCamera.get(key)
    if (metered === undefined) return
    metered.feed = feed
    this.#byFeed.set(feed, metered.meter)
    metered.meter.sample(keyFramesOf(feed), Date.now())
    if (this.#timer !== undefined) return
    this.#timer = setInterval(() => this.#sample(Date.now()), sampleMs)
    this.#timer.unref()
  }

  /** Ends the measurement when the pull of the camera has ended. */
  end(key: string): void {
    const metered = this.#byCamera.get(key)
    if (metered === undefined) return
    if (metered.meter.sampledAt === 0) this.#byCamera.delete(key)
    else metered.feed = undefined
  }

  /** Returns the meter of the camera behind a feed. */
  of(feed: Feed): CameraMeter | undefined {
    return this.#byFeed.get(feed)
  }

  close(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#byCamera.clear()
  }

  #sample(now: number): void {
    for (const [key, { meter, feed }] of this.#byCamera) {
      if (feed !== undefined) meter.sample(keyFramesOf(feed), now)
      else if (meter.sampledAt > 0 && now - meter.sampledAt > keptMinutes * minuteMs) this.#byCamera.delete(key)
    }
    if (this.#byCamera.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

/** Returns the number of key frames; undefined for converted video, whose key frames come from ffmpeg. */
function keyFramesOf({ playback, counts, video }: Feed): number | undefined {
  const { conversion } = playback
  const converted = conversion !== undefined && conversion.from !== '' && conversion.pictures
  return converted || video === undefined ? undefined : counts.keyFrames
}
