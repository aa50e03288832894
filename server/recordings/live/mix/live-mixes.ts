import { ApiError } from '../../../../shared/result-codes.ts'
import { refusal } from '../../../../shared/refusals/refusal.ts'
import type { StoredLive } from '../../../store/recording-records.ts'
import type { RecordingRequests } from '../../recording-requests.ts'
import type { LiveStream } from '../live-stream.ts'
import { windowMs } from '../live-streams.ts'
import { LiveMix, type LiveMixDependencies, removeMixes } from './live-mix.ts'

export interface LiveMixesOptions extends Omit<LiveMixDependencies, 'id' | 'roomId' | 'target' | 'picture' | 'ready'> {
  requests: RecordingRequests
}

/** Mixes of live streams with the sound of their room, by live stream id. */
export class LiveMixes {
  readonly #options: LiveMixesOptions
  readonly #mixes = new Map<string, LiveMix>()
  #cleared: Promise<void> = Promise.resolve()

  constructor(options: LiveMixesOptions) {
    this.#options = options
  }

  /** Deletes files of an earlier run. */
  start(): void {
    this.#cleared = removeMixes(this.#options.folder)
  }

  /** Checks that mixing is possible. @throws ApiError recordingUnavailable (no ffmpeg) */
  async check(): Promise<void> {
    const { ffmpeg } = this.#options
    await ffmpeg.look()
    if (ffmpeg.program === undefined)
      throw new ApiError('recordingUnavailable', { refusal: refusal('liveMixNeedsFfmpeg') })
  }

  /** Starts a mix. The whole room is recorded while it runs. */
  begin({ id, room_id: roomId, picture }: StoredLive, target: LiveStream): LiveStream {
    this.#options.requests.put({ id: requestId(id), roomId, windowMs })
    const mix = new LiveMix({ ...this.#options, id, roomId, target, picture: picture !== 'none', ready: this.#cleared })
    this.#mixes.set(id, mix)
    return mix.stream
  }

  /** Returns the mix of a live stream; undefined if there is none. */
  of(id: string): LiveStream | undefined {
    return this.#mixes.get(id)?.stream
  }

  /** Ends a mix and deletes its files. Never rejects. */
  async end(id: string): Promise<void> {
    const mix = this.#mixes.get(id)
    if (mix === undefined) return
    this.#mixes.delete(id)
    this.#options.requests.remove(requestId(id))
    const closed = mix.close()
    // The next mix of this live stream uses the same folder.
    this.#cleared = Promise.allSettled([this.#cleared, closed]).then(() => undefined)
    await closed
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#mixes.keys(), (id) => this.end(id)))
  }
}

function requestId(id: string): string {
  return `live:mix:${id}`
}
