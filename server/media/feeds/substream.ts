import type { CameraSource } from '../../../shared/device-address.ts'
import type { CameraLease, CameraPulls } from './camera-pulls.ts'
import type { Feed } from './feed.ts'
import type { VideoFormat } from './feed-format.ts'
import type { PictureStream } from './feed.ts'

/** How long it is waited for, in milliseconds. */
const answerMs = 3_000

/** A camera's second, smaller stream: pulled while somebody needs it. */
export class Substream implements PictureStream {
  readonly #pulls: CameraPulls
  readonly #camera: CameraSource
  /** As it was found last. */
  #found: Feed | undefined
  /** Always to be acquired. */
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
   * Takes a share in its pull; undefined when it is not available, or has no picture.
   * @param codec the only one that will do; undefined: every one
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

/** The lease of a feed that is watched. @throws Problem transcoders, the lease released */
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
