import type { CameraSource } from '../../../shared/device-address.ts'
import type { CameraLease, CameraPulls } from './camera-pulls.ts'
import type { Feed } from './feed.ts'
import type { VideoFormat } from './feed-format.ts'
import type { PictureStream } from './feed.ts'

/** Timeout for acquiring the stream, in milliseconds. */
const answerMs = 3_000

/** A camera's second, smaller stream, pulled while it is in use. */
export class Substream implements PictureStream {
  readonly #pulls: CameraPulls
  readonly #camera: CameraSource
  #found: Feed | undefined
  /** Feed to begin with; undefined, because the stream is pulled only after `acquire`. */
  readonly feed = undefined

  constructor(pulls: CameraPulls, camera: CameraSource) {
    this.#pulls = pulls
    this.#camera = camera
  }

  get height(): number {
    return this.#found?.picture.entry.height ?? 0
  }

  get bitrate(): number {
    return this.#found?.picture.bitrate ?? 0
  }

  /**
   * Takes a share in the stream's pull. Returns undefined if the stream is unavailable or has no suitable picture.
   * @param codec required codec; undefined: any
   * @param lost called once when the pull ends by itself
   */
  async acquire(
    codec: VideoFormat['codec'] | undefined,
    signal: AbortSignal,
    lost: () => void,
  ): Promise<CameraLease | undefined> {
    try {
      const ended = AbortSignal.any([signal, AbortSignal.timeout(answerMs)])
      const lease = await this.#pulls.acquire(this.#camera, ended, lost)
      const found = lease.feed.video?.codec
      if (found === undefined || (codec !== undefined && found !== codec)) {
        lease.release()
        return undefined
      }
      this.#found = lease.feed
      return prepared(lease)
    } catch {
      // The main stream is sent instead.
      return undefined
    }
  }
}

/** Starts the conversion for a lease. @throws Problem transcoders, after releasing the lease */
function prepared(lease: CameraLease): CameraLease {
  try {
    const done = lease.feed.prepare(false)
    return {
      feed: lease.feed,
      release: () => {
        done()
        lease.release()
      },
    }
  } catch (error) {
    lease.release()
    throw error
  }
}
