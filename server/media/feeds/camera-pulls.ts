import { type Log, wholeText } from '../log.ts'
import type { CameraLogin } from '../rtsp/authentication.ts'
import type { RtspTrack } from '../rtsp/description.ts'
import { RtspError } from '../rtsp/rtsp-error.ts'
import { type RtspOptions, RtspSession } from '../rtsp/session.ts'
import { clockPointOf } from '../rtp/rtcp.ts'
import { isRtp } from '../rtp/packet.ts'
import { PictureOrder } from '../rtp/picture-order.ts'
import { Refragmentation } from '../rtp/refragment.ts'
import { type AudioFormat, Feed, type VideoFormat } from './feed.ts'

/** A camera as it is pulled. */
export interface CameraAddress {
  /** Without login. */
  address: string
  login: CameraLogin | undefined
}

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

interface Pull {
  ready: Promise<Feed>
  /** Told when a pull that was ready is over. */
  holders: Set<(error: RtspError) => void>
  /** Ends it when its camera may not be where it is by the settings now. */
  review(): void
  end(): void
}

/** Every camera that is pulled: one pull per address and login, however many rooms it is in. */
export class CameraPulls {
  readonly #pulls = new Map<string, Pull>()
  readonly #playing = new Set<Pull>()
  readonly #log: Log
  #settings: PullSettings

  constructor(settings: PullSettings, log: Log) {
    this.#settings = settings
    this.#log = log
  }

  get settings(): PullSettings {
    return this.#settings
  }

  /** For every pull from now on; one whose camera may not be where it is any more ends. */
  set settings(settings: PullSettings) {
    this.#settings = settings
    for (const pull of [...this.#playing]) pull.review()
  }

  /** Different cameras whose media flows. */
  get size(): number {
    return this.#playing.size
  }

  /**
   * A share in the camera's pull, once its media flows.
   * @param lost told once when the pull ends by itself; not after `release`
   * @throws RtspError; the signal's reason. Either way nothing is left behind.
   */
  async acquire(camera: CameraAddress, signal: AbortSignal, lost: (error: RtspError) => void): Promise<CameraLease> {
    signal.throwIfAborted()
    const key = JSON.stringify([camera.address, camera.login?.name ?? '', camera.login?.password ?? ''])
    const pull = this.#pulls.get(key) ?? this.#begin(key, camera)
    // A holder of its own, so that one camera can be twice in one room.
    const holder = (error: RtspError): void => lost(error)
    pull.holders.add(holder)
    const release = (): void => {
      if (pull.holders.delete(holder) && pull.holders.size === 0) pull.end()
    }
    try {
      return { feed: await orAborted(pull.ready, signal), release }
    } catch (error) {
      release()
      throw error
    }
  }

  /** Ends every pull without a word to its holders. */
  close(): void {
    for (const pull of [...this.#pulls.values()]) {
      pull.holders.clear()
      pull.end()
    }
  }

  /** One holder that fails does not keep the others from hearing of it. */
  #tell(holder: (error: RtspError) => void, error: RtspError): void {
    try {
      holder(error)
    } catch (cause) {
      this.#log.error('the end of a camera could not be told', wholeText(cause))
    }
  }

  #begin(key: string, camera: CameraAddress): Pull {
    const abort = new AbortController()
    let feed: Feed | undefined
    let video: Refragmentation | undefined
    const order = new PictureOrder()
    const forget = (): void => {
      if (this.#pulls.get(key) === pull) this.#pulls.delete(key)
      this.#playing.delete(pull)
      feed?.end()
    }
    const session = new RtspSession(
      { ...this.settings, ...camera, log: this.#log },
      {
        rtp: (track, packet) => {
          feed ??= feedOf(session.tracks)
          if (!isRtp(packet) || ((packet[1] ?? 0) & 0x7f) !== track.payloadType) return
          if (track.kind === 'audio') return feed.pushAudio(packet)
          const { codec } = feed.video ?? {}
          if (codec === undefined || codec === 'VP8') return
          const into = feed
          order.note(packet)
          feed.bFrames ||= order.reordered
          video ??= new Refragmentation(codec, (each) => into.pushVideo(each))
          video.push(packet)
        },
        rtcp: (track, packet) => {
          const point = clockPointOf(packet)
          if (point !== undefined) feed?.noteClock(track.kind, point)
        },
        ended: (error) => lost(error),
      },
    )
    const lost = (error: RtspError): void => {
      forget()
      const holders = [...pull.holders]
      pull.holders.clear()
      for (const holder of holders) this.#tell(holder, error)
    }
    const ready = session.play(abort.signal).then(
      (tracks) => {
        feed ??= feedOf(tracks)
        this.#playing.add(pull)
        return feed
      },
      (error: unknown) => {
        forget()
        throw error
      },
    )
    // Each holder hears of it; none may be left.
    ready.catch(() => {})
    const pull: Pull = {
      ready,
      holders: new Set(),
      review: () => {
        if (session.isAllowed(this.settings.allowed)) return
        lost(new RtspError('forbidden', 'cameras may not be at this address any more'))
        void session.close()
      },
      end: () => {
        forget()
        abort.abort(new RtspError('closed', 'nobody wants it any more'))
        void session.close()
      },
    }
    this.#pulls.set(key, pull)
    return pull
  }
}

function feedOf(tracks: readonly RtspTrack[]): Feed {
  const video = tracks.find(({ kind }) => kind === 'video')
  const audio = tracks.find(({ kind }) => kind === 'audio')
  return new Feed({
    video: video === undefined ? undefined : videoFormat(video),
    audio: audio === undefined ? undefined : audioFormat(audio),
    cached: true,
    // A camera cannot be asked over RTSP.
    requestKeyFrame: () => {},
  })
}

function videoFormat({ codec, parameters }: RtspTrack): VideoFormat {
  const parameterSets = parameters.get('sprop-parameter-sets') ?? ''
  const fromSet = Buffer.from(parameterSets.slice(0, 8), 'base64').subarray(1, 4).toString('hex')
  const profileLevelId = (parameters.get('profile-level-id') ?? fromSet).toLowerCase()
  return {
    codec: codec === 'H265' ? 'H265' : 'H264',
    profileLevelId: /^[0-9a-f]{6}$/.test(profileLevelId) ? profileLevelId : '',
    parameterSets,
  }
}

function audioFormat({ codec, clockRate }: RtspTrack): AudioFormat {
  if (codec === 'PCMU' || codec === 'PCMA' || codec === 'G722') return { codec, clockRate }
  return { codec: 'OPUS', clockRate: 48_000 }
}

function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
