import { ApiError } from '../../../shared/result-codes.ts'
import { refusal } from '../../../shared/refusals/refusal.ts'
import type { StreamSource } from '../../../shared/media/stream-source.ts'
import type { LiveFacts, RecordingFacts } from '../../../shared/recording-operations.ts'
import type { Rooms } from '../../rooms/room-lifecycle.ts'
import type { StoredLive, StoredRecording } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { sealLiveToken } from '../live/live-token.ts'
import { segmentsOf } from '../live/recorded-page.ts'
import { type RecordedClaims, sealRecordedToken } from '../live/recorded-token.ts'
import type { RecordingIndex } from '../recording-index.ts'
import type { OrderedLives } from '../live/ordered-lives.ts'
import type { LiveAddresses, OrderAddresses } from './order-addresses.ts'
import { liveFactsOf, recordingFactsOf } from './order-facts.ts'
import { checkTarget } from './order-checks.ts'
import type { OrderedRecordings } from './ordered-recordings.ts'

/** Longest span of one playlist, in milliseconds: each of its files is read once. */
const maxSpanMs = 6 * 60 * 60_000

/** Needs of the orders. */
export interface OrderedMediaParts {
  recordings: OrderedRecordings
  lives: OrderedLives
  addresses: OrderAddresses
  store: Pick<Store, 'seal'>
  index: Pick<RecordingIndex, 'segments'>
  rooms: Pick<Rooms, 'get' | 'users'>
  /** Milliseconds since the epoch. */
  clock: () => number
}

/** Recordings and live streams that somebody orders, as API and console offer them. */
export class OrderedMedia {
  readonly #parts: OrderedMediaParts

  constructor(parts: OrderedMediaParts) {
    this.#parts = parts
  }

  /** For operations that answer in words of their own. */
  get parts(): Pick<OrderedMediaParts, 'recordings' | 'lives' | 'addresses'> {
    const { recordings, lives, addresses } = this.#parts
    return { recordings, lives, addresses }
  }

  get recordings(): OrderedRecordings {
    return this.#parts.recordings
  }

  get lives(): OrderedLives {
    return this.#parts.lives
  }

  /** @throws ApiError internal while the media API does not listen */
  recordingFacts(recording: StoredRecording): RecordingFacts {
    const { recordings, addresses } = this.#parts
    return recordingFactsOf(recording, recordings.stateOf(recording), (index) => addresses.file(recording, index))
  }

  /** @throws ApiError internal while the media API does not listen */
  liveFacts(live: StoredLive): LiveFacts {
    const { lives, addresses } = this.#parts
    return liveFactsOf(live, lives.stateOf(live), addresses.live(lives.tokenOf(live)))
  }

  /**
   * Addresses with which anybody watches a stream until they expire; it is recorded while somebody does.
   * @throws ApiError roomNotFound, roomClosed, userNotOnline, nodeTimeout
   */
  async liveLink(
    { roomId, userId, source }: { roomId: string; userId: string; source: StreamSource },
    lifeMs: number,
  ): Promise<LiveAddresses & { expires_at: number }> {
    const { store, rooms, addresses, clock } = this.#parts
    await checkTarget(rooms, { room_id: roomId, user_id: userId })
    const expires_at = clock() + lifeMs
    const claims = { v: 1, room: roomId, user: userId, source, sound: true, picture: true, exp: expires_at } as const
    return { ...addresses.live(sealLiveToken(store, claims)), expires_at }
  }

  /**
   * Address of a playlist of what was recorded in a span; anybody plays it until it expires.
   * @throws ApiError parameter (the span), recordingNotFound
   */
  recordedLink(span: Omit<RecordedClaims, 'v' | 'exp'>, lifeMs: number): { hls_url: string; expires_at: number } {
    const { store, index, addresses, clock } = this.#parts
    if (span.to <= span.from || span.to - span.from > maxSpanMs)
      throw new ApiError('parameter', { refusal: refusal('recordedSpan') })
    if (segmentsOf(index, span).length === 0) throw new ApiError('recordingNotFound')
    const expires_at = clock() + lifeMs
    const token = sealRecordedToken(store, { v: 1, ...span, exp: expires_at })
    return { hls_url: addresses.recorded(token), expires_at }
  }

  start(): void {
    this.#parts.recordings.start()
    this.#parts.lives.start()
  }

  async close(): Promise<void> {
    await this.#parts.lives.close()
    await this.#parts.recordings.close()
  }
}
