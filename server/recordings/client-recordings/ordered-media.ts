import type { StreamSource } from '../../../shared/media/stream-source.ts'
import type { LiveFacts, RecordingFacts } from '../../../shared/recording-operations.ts'
import { refusal } from '../../../shared/refusals/refusal.ts'
import { ApiError } from '../../../shared/result-codes.ts'
import type { Settings } from '../../../shared/settings.ts'
import type { Capabilities } from '../../capabilities/capabilities.ts'
import type { Rooms } from '../../rooms/room-lifecycle.ts'
import type { CapabilityMaker } from '../../store/capability-record.ts'
import type { StoredLive, StoredRecording } from '../../store/recording-records.ts'
import type { LiveState, OrderedLives } from '../live/ordered-lives.ts'
import { type LinkedSpan, segmentsOf } from '../live/recorded-page.ts'
import type { RecordingIndex } from '../recording-index.ts'
import { checkTarget } from './stored-orders.ts'
import type { OrderedRecordings, OrderedState } from './ordered-recordings.ts'
import type { RecordFiles } from './record-files.ts'

/** Maximum span of one playlist, in milliseconds: building a playlist reads each file of the span. */
const maxSpanMs = 6 * 60 * 60_000

export interface OrderedMediaDependencies {
  recordings: OrderedRecordings
  lives: OrderedLives
  addresses: OrderAddresses
  capabilities: Pick<Capabilities, 'make'>
  index: Pick<RecordingIndex, 'segments'>
  rooms: Pick<Rooms, 'get' | 'users'>
  /** Returns the current time, in milliseconds since the epoch. */
  clock: () => number
}

/** Recordings and live streams ordered through the API and the console. */
export class OrderedMedia {
  readonly #dependencies: OrderedMediaDependencies

  constructor(dependencies: OrderedMediaDependencies) {
    this.#dependencies = dependencies
  }

  /** Returns the parts, for operations with their own response format. */
  get parts(): Pick<OrderedMediaDependencies, 'recordings' | 'lives' | 'addresses'> {
    const { recordings, lives, addresses } = this.#dependencies
    return { recordings, lives, addresses }
  }

  get recordings(): OrderedRecordings {
    return this.#dependencies.recordings
  }

  get lives(): OrderedLives {
    return this.#dependencies.lives
  }

  /** @throws ApiError internal while the media API does not listen */
  recordingFacts(recording: StoredRecording): RecordingFacts {
    const { recordings, addresses } = this.#dependencies
    return recordingFactsOf(recording, recordings.stateOf(recording), (index) => addresses.file(recording, index))
  }

  /** @throws ApiError internal while the media API does not listen */
  liveFacts(live: StoredLive): LiveFacts {
    const { lives, addresses } = this.#dependencies
    return liveFactsOf(live, lives.stateOf(live), addresses.live(lives.tokenOf(live)))
  }

  /**
   * Returns addresses at which everybody can watch a stream until they expire. The stream is recorded while it is being
   * watched.
   * @throws ApiError roomNotFound, roomClosed, userNotOnline, nodeTimeout, recordingUnavailable (too many links),
   * storage
   */
  async liveLink(
    { roomId, userId, source }: { roomId: string; userId: string; source: StreamSource },
    lifeMs: number,
    maker: CapabilityMaker,
  ): Promise<LiveAddresses & { expires_at: number }> {
    const { capabilities, rooms, addresses, clock } = this.#dependencies
    const of = { room_id: roomId, user_id: userId }
    await checkTarget(rooms, of)
    const draft = { kind: 'live-link', ...of, source, expires_at: clock() + lifeMs } as const
    const { token, record } = await capabilities.make(draft, maker)
    return { ...addresses.live(token), expires_at: record.expires_at }
  }

  /**
   * Returns the address of a playlist of a recorded span. Everybody can play the span until the address expires.
   * @throws ApiError parameter (the span), recordingNotFound, recordingUnavailable (too many links), storage
   */
  async recordedLink(
    span: LinkedSpan,
    lifeMs: number,
    maker: CapabilityMaker,
  ): Promise<{ hls_url: string; expires_at: number }> {
    const { capabilities, index, addresses, clock } = this.#dependencies
    const { room: room_id, user: user_id, source, from, to } = span
    if (to <= from || to - from > maxSpanMs) throw new ApiError('parameter', { refusal: refusal('recordedSpan') })
    if (segmentsOf(index, span).length === 0) throw new ApiError('recordingNotFound')
    const draft = { kind: 'recorded-link', room_id, user_id, source, from, to, expires_at: clock() + lifeMs } as const
    const { token, record } = await capabilities.make(draft, maker)
    return { hls_url: addresses.recorded(token), expires_at: record.expires_at }
  }

  start(): void {
    this.#dependencies.recordings.start()
    this.#dependencies.lives.start()
  }

  async close(): Promise<void> {
    await this.#dependencies.lives.close()
    await this.#dependencies.recordings.close()
  }
}

/** Returns the fields that recordings and live streams share. */
function commonFacts(order: StoredRecording | StoredLive) {
  const { id, room_id, user_id, name, tag, sound, picture, reason = '', created_at, ended_at = 0 } = order
  return { id, room_id, user_id, name, tag, description: '', sound, picture, reason, created_at, ended_at }
}

/** Converts a recording to its form in responses. @param urlOf returns the address of a file by its index */
function recordingFactsOf(
  recording: StoredRecording,
  state: OrderedState,
  urlOf: (index: number) => string,
): RecordingFacts {
  const files = recording.files.map(({ file: _, ...facts }, index) => ({ url: urlOf(index), ...facts }))
  return { ...commonFacts(recording), description: recording.description, state, files }
}

/** Converts a live stream to its form in responses. */
function liveFactsOf(live: StoredLive, state: LiveState, urls: Pick<LiveFacts, 'page_url' | 'hls_url'>): LiveFacts {
  return { ...commonFacts(live), state, ...urls, rtmp_url: live.rtmp_url }
}

interface LiveAddresses {
  /** Page that plays the stream. */
  page_url: string
  hls_url: string
}

/** Builds the external addresses of files and live streams on the media port. */
export class OrderAddresses {
  readonly #files: RecordFiles
  readonly #settings: () => Settings
  readonly #mediaUrl: () => string

  /** @param mediaUrl address of the media API if the settings contain none; empty while the port is closed */
  constructor(files: RecordFiles, settings: () => Settings, mediaUrl: () => string) {
    this.#files = files
    this.#settings = settings
    this.#mediaUrl = mediaUrl
  }

  /**
   * Returns the address of a file, complete or not; empty if its capability has ended.
   * @throws ApiError internal while the media API is off
   */
  file(recording: StoredRecording, index: number): string {
    const path = this.#files.address(recording, index)
    return path === '' ? '' : this.#base() + path
  }

  /** @throws ApiError internal while the media API is off */
  live(token: string): LiveAddresses {
    const page_url = `${this.#base()}/live/${token}`
    return { page_url, hls_url: `${page_url}/index.m3u8` }
  }

  /** Returns the address of the playlist of a recorded span. @throws ApiError internal while the media API is off */
  recorded(token: string): string {
    return `${this.#base()}/recorded/${token}/index.m3u8`
  }

  #base(): string {
    const base = this.#settings().media.public_url || this.#mediaUrl()
    if (base === '') throw new ApiError('internal', { refusal: refusal('mediaApiOff') })
    return base
  }
}
