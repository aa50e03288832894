import { cameraKey, type CameraSource } from '../../../shared/device-address.ts'
import { type Log, wholeText } from '../base/media-log.ts'
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
  /** Idempotent; the last one ends the pull. */
  release(): void
}

/** Settings of pulls. */
export type PullSettings = Required<
  Pick<RtspOptions, 'transport' | 'trustAnyCertificate' | 'answerMs' | 'stallMs' | 'allowed'>
>

/** Cameras of which it is remembered how their sessions are kept alive, at most. */
const maxRemembered = 1_000

interface Pull {
  ready: Promise<Feed>
  /** Called when a pull that was ready is over. */
  holders: Set<(error: RtspError) => void>
  /** Ends it when its camera may not be where it is by the settings now, or would be shown in another way. */
  review(): void
  end(): void
}

/** Every camera that is pulled: one pull per address and login, however many rooms it is in. */
export class CameraPulls {
  readonly #pulls = new Map<string, Pull>()
  readonly #playing = new Set<Pull>()
  /** Cameras, by key, whose sessions timed out although OPTIONS was sent: GET_PARAMETER is tried with their next one. */
  readonly #tryParameter = new Set<string>()
  /** Meters of the streams that cameras send. */
  readonly meters = new CameraMeters()
  readonly #transcoding: Transcoding
  readonly #log: Log
  #settings: PullSettings

  /** @param transcoding what makes playable what browsers would not show */
  constructor(settings: PullSettings, transcoding: Transcoding, log: Log) {
    this.#settings = settings
    this.#transcoding = transcoding
    this.#log = log
    transcoding.changed = () => this.#review()
  }

  get settings(): PullSettings {
    return this.#settings
  }

  /** For every pull from now on; one whose camera may not be where it is any more ends. */
  set settings(settings: PullSettings) {
    this.#settings = settings
    this.#review()
  }

  /** Different cameras whose media flows. */
  get size(): number {
    return this.#playing.size
  }

  /**
   * Takes a share in the camera's pull, once its media flows.
   * @param lost called once when the pull ends by itself; not after `release`
   * @throws RtspError; the signal's reason. Either way nothing is left behind.
   */
  async acquire(camera: CameraSource, signal: AbortSignal, lost: (error: RtspError) => void): Promise<CameraLease> {
    signal.throwIfAborted()
    const key = cameraKey(camera)
    const pull = this.#pulls.get(key) ?? this.#begin(key, camera)
    // A holder of its own, so that one camera can be twice in one room.
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

  /** One holder that fails does not keep the others from hearing of it. */
  #notify(holder: (error: RtspError) => void, error: RtspError): void {
    try {
      holder(error)
    } catch (cause) {
      this.#log.error('end of a camera could not be reported', wholeText(cause))
    }
  }

  /** Sessions of a camera that does not name GET_PARAMETER are kept alive in the other way from the next one on. */
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
        // The pull is over: releasing a share ends nothing any more.
        pull.holders.clear()
        throw error
      },
    )
    // Each holder handles the failure; there may be none left.
    ready.catch(() => {})
    const pull: Pull = {
      ready,
      holders: new Set(),
      review: () => {
        if (!session.isAllowed(this.settings.allowed)) {
          lost(new RtspError('forbidden', 'cameras may not be at this address any more'))
        } else if (camera?.outdated === true) {
          lost(new RtspError('closed', 'conversion restarts because its form changed'))
        } else return
        mustNotFail(session.close())
      },
      end: () => {
        forget()
        abort.abort(new RtspError('closed', 'it is not needed any more'))
        mustNotFail(session.close())
      },
    }
    this.#pulls.set(key, pull)
    return pull
  }
}
