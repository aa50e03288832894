import { cameraKey, type CameraSource } from '../../../shared/device-address.ts'
import { type MediaLog, wholeText } from '../base/media-log.ts'
import { unlessAborted } from '../../../shared/abort.ts'
import { mustNotFail } from '../../../shared/unawaited.ts'
import { clockPointOf } from '../rtp/rtcp.ts'
import { RtspError } from '../rtsp/rtsp-error.ts'
import { type RtspOptions, RtspSession } from '../rtsp/session.ts'
import type { Transcoding } from '../transcode/transcoding.ts'
import { CameraFeed } from './camera-feed.ts'
import { CameraMeters } from './camera-meters.ts'
import type { Feed } from './feed.ts'

/** A share in a pull. */
export interface CameraLease {
  feed: Feed
  /** Releases the share; the last release ends the pull. Idempotent. */
  release(): void
}

export type PullSettings = Required<
  Pick<RtspOptions, 'transport' | 'trustAnyCertificate' | 'answerMs' | 'stallMs' | 'allowed'>
>

/** Maximum number of keys in `#tryParameter`. */
const maxRemembered = 1_000

interface Pull {
  ready: Promise<Feed>
  /** Callbacks for the end of a pull that was ready. */
  holders: Set<(error: RtspError) => void>
  /**
   * Ends the pull if the settings no longer allow the camera's address, or if the conversion of its media has to
   * change.
   */
  review(): void
  end(): void
}

/** Pulls of all cameras: one pull per address and login, shared by all rooms. */
export class CameraPulls {
  readonly #pulls = new Map<string, Pull>()
  readonly #playing = new Set<Pull>()
  /**
   * Keys of cameras whose sessions timed out although OPTIONS was sent. GET_PARAMETER is tried in the next session of
   * these cameras.
   */
  readonly #tryParameter = new Set<string>()
  readonly meters = new CameraMeters()
  readonly #transcoding: Transcoding
  readonly #log: MediaLog
  #settings: PullSettings

  /** @param transcoding converts media that browsers cannot play */
  constructor(settings: PullSettings, transcoding: Transcoding, log: MediaLog) {
    this.#settings = settings
    this.#transcoding = transcoding
    this.#log = log
    transcoding.changed = () => this.#review()
  }

  get settings(): PullSettings {
    return this.#settings
  }

  /** Settings of future pulls. A pull of an address that is no longer allowed ends. */
  set settings(settings: PullSettings) {
    this.#settings = settings
    this.#review()
  }

  /** Number of different cameras that send media. */
  get size(): number {
    return this.#playing.size
  }

  /**
   * Takes a share in the camera's pull. Resolves when the camera's media arrives.
   * @param lost called once when the pull ends by itself; not after `release`
   * @throws RtspError; the signal's reason. In both cases nothing is left open.
   */
  async acquire(camera: CameraSource, signal: AbortSignal, lost: (error: RtspError) => void): Promise<CameraLease> {
    signal.throwIfAborted()
    const key = cameraKey(camera)
    const pull = this.#pulls.get(key) ?? this.#begin(key, camera)
    // A separate function per call, so that one camera can be in a room twice.
    const holder = (error: RtspError): void => lost(error)
    pull.holders.add(holder)
    const release = (): void => {
      if (pull.holders.delete(holder) && pull.holders.size === 0) pull.end()
    }
    try {
      return { feed: await unlessAborted(pull.ready, signal), release }
    } catch (error) {
      release()
      throw error
    }
  }

  /** Ends every pull without notifying its holders. */
  close(): void {
    this.meters.close()
    for (const pull of [...this.#pulls.values()]) {
      pull.holders.clear()
      pull.end()
    }
  }

  #review(): void {
    for (const pull of [...this.#playing]) pull.review()
  }

  /** Calls a holder. An error in one holder must not prevent the notification of other holders. */
  #notify(holder: (error: RtspError) => void, error: RtspError): void {
    try {
      holder(error)
    } catch (cause) {
      this.#log.error('end of a camera could not be reported', wholeText(cause))
    }
  }

  /** Switches the keep-alive method for the camera's next session. */
  #changeKeepAlive(key: string): void {
    if (this.#tryParameter.delete(key)) return
    if (this.#tryParameter.size >= maxRemembered) this.#tryParameter.clear()
    this.#tryParameter.add(key)
  }

  #begin(key: string, source: CameraSource): Pull {
    const abort = new AbortController()
    const meter = this.meters.begin(key)
    let camera: CameraFeed | undefined
    const forget = (): void => {
      if (this.#pulls.get(key) === pull) {
        this.#pulls.delete(key)
        this.meters.end(key)
      }
      this.#playing.delete(pull)
      camera?.end()
    }
    const begin = (): CameraFeed =>
      (camera ??= new CameraFeed(session.tracks, this.#transcoding, session.described, session.refusals))
    const session = new RtspSession(
      {
        ...this.settings,
        ...source,
        tryParameter: this.#tryParameter.has(key),
        abilities: () => this.#transcoding.abilities(),
        log: this.#log,
      },
      {
        rtp: (track, packet) => {
          meter.note(track.kind, packet)
          begin().rtp(track, packet)
        },
        rtcp: (track, packet) => {
          const point = clockPointOf(packet)
          if (point === undefined) return
          meter.noteClock(point.ntp, Date.now())
          camera?.report(track, point)
        },
        ended: (error) => {
          if (session.mayHaveTimedOut) this.#changeKeepAlive(key)
          lost(error)
        },
      },
    )
    const lost = (error: RtspError): void => {
      forget()
      const holders = [...pull.holders]
      pull.holders.clear()
      for (const holder of holders) this.#notify(holder, error)
    }
    const ready = session.play(abort.signal).then(
      () => {
        this.#playing.add(pull)
        const { feed } = begin()
        this.meters.flows(key, feed)
        return feed
      },
      (error: unknown) => {
        forget()
        // The pull has ended, so releasing a share must not end it again.
        pull.holders.clear()
        throw error
      },
    )
    // Each holder handles the failure; there may be no holders left.
    ready.catch(() => {})
    const pull: Pull = {
      ready,
      holders: new Set(),
      review: () => {
        if (!session.isAllowed(this.settings.allowed)) {
          lost(new RtspError('forbidden', 'cameras are no longer allowed at this address'))
        } else if (camera?.outdated === true) {
          lost(new RtspError('closed', 'conversion restarts because its form changed'))
        } else return
        mustNotFail(session.close())
      },
      end: () => {
        forget()
        abort.abort(new RtspError('closed', 'the stream is no longer needed'))
        mustNotFail(session.close())
      },
    }
    this.#pulls.set(key, pull)
    return pull
  }
}
