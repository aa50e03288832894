import { CameraMeter } from './camera-meter.ts'
import type { Feed } from './feed.ts'

/** Interval of samples, in milliseconds. */
const sampleMs = 5_000
/** Period for which the measures of a camera are kept after its pull ended, in milliseconds. */
const keptMs = 60 * 60_000

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
      else if (meter.sampledAt > 0 && now - meter.sampledAt > keptMs) this.#byCamera.delete(key)
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
