import { ApiError } from '../../../shared/result-codes.ts'
import { refusal } from '../../../shared/refusals/refusal.ts'
import type { LocalFfmpeg } from '../../nodes/embedded/ffmpeg/ffmpeg-program.ts'
import type { StoredLive } from '../../store/recording-records.ts'
import type { EncoderPlaces } from './ffmpeg-run.ts'
import type { LiveStream } from './live-stream.ts'
import { checkPushAddress, PushAddressError } from './push-address.ts'
import { RtmpPush, type RtmpPushOptions } from './rtmp-push.ts'

export interface LivePushesOptions extends Pick<RtmpPushOptions, 'folder' | 'logger' | 'firstRetryMs' | 'caFile'> {
  ffmpeg: LocalFfmpeg
  encoders: EncoderPlaces
  /** Networks to which pushes may connect; empty: all. */
  networks: () => readonly string[]
  sitePorts: () => readonly number[]
}

/** Pushes of live streams to RTMP servers. */
export class LivePushes {
  readonly #options: LivePushesOptions
  readonly #pushes = new Map<string, RtmpPush>()

  constructor(options: LivePushesOptions) {
    this.#options = options
  }

  /**
   * Checks that a push is possible. Returns the server address without path and login.
   * @throws ApiError parameter (the address), recordingUnavailable (no ffmpeg)
   */
  async check(publishUrl: string): Promise<string> {
    const { ffmpeg } = this.#options
    const { shown } = await this.#target(publishUrl).catch((error: unknown) => {
      if (!(error instanceof PushAddressError)) throw error
      throw new ApiError('parameter', { refusal: error.refusal })
    })
    await ffmpeg.look()
    if (ffmpeg.program === undefined)
      throw new ApiError('recordingUnavailable', { refusal: refusal('pushNeedsFfmpeg') })
    return shown
  }

  start({ id, sound, picture }: StoredLive, stream: LiveStream, publishUrl: string): void {
    const { folder, logger, ffmpeg, caFile, encoders, firstRetryMs } = this.#options
    if (this.#pushes.has(id)) return
    const push = new RtmpPush({
      ...{ id, stream, folder, logger, ffmpeg, caFile },
      ...(firstRetryMs === undefined ? {} : { firstRetryMs }),
      tracks: { picture: picture !== 'none', sound: sound !== 'none' },
      target: () => this.#target(publishUrl),
      encoder: () => encoders.take(),
    })
    this.#pushes.set(id, push)
  }

  async stop(id: string): Promise<void> {
    const push = this.#pushes.get(id)
    this.#pushes.delete(id)
    await push?.end()
  }

  /** Returns the state of a push; undefined if the stream is not pushed. */
  of(id: string): Pick<RtmpPush, 'state' | 'problem'> | undefined {
    return this.#pushes.get(id)
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#pushes.keys(), (id) => this.stop(id)))
  }

  #target(publishUrl: string): ReturnType<typeof checkPushAddress> {
    const { networks, sitePorts } = this.#options
    return checkPushAddress(publishUrl, { networks: networks(), sitePorts: sitePorts() })
  }
}
