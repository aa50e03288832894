import { z } from 'zod'
import { limits } from '../../../shared/limits.ts'
import type { RecordedStream } from '../../../shared/recordings/segment.ts'
import { ApiError } from '../../../shared/result-codes.ts'
import type { Rooms } from '../../rooms/room-lifecycle.ts'
import type { StoredLive } from '../../store/records.ts'
import { placeOf } from '../../store/sealed-places.ts'
import type { Store } from '../../store/store.ts'
import type { RecordingIndex } from '../recording-index.ts'
import { checkRegularly, checkWish, newOrderId } from '../records/order-checks.ts'
import { matches, newestFirst, type OrderFilter, prunedBy } from '../records/order-search.ts'
import { isRecorded, sourceOf } from '../records/recorded-streams.ts'
import type { LiveStreams } from './live-streams.ts'
import { sealLiveToken } from './live-token.ts'
import type { LiveMixes } from './mix/live-mixes.ts'
import type { LivePushes } from './live-pushes.ts'

/** Live stream that a client orders. */
export interface LiveWish
  extends Pick<StoredLive, 'room_id' | 'user_id' | 'sound' | 'picture' | 'created_by' | 'rtmp_url' | 'hls_url'> {
  name?: string | undefined
  tag?: string | undefined
  /** RTMP server to push to; left out: none. */
  publishUrl?: string | undefined
}

/** State as clients see it: waiting until the first media came. */
export type LiveState = StoredLive['state'] | 'waiting'

/** Needs of the live streams of clients. */
export interface OrderedLivesOptions {
  store: Pick<Store, 'get' | 'all' | 'transact' | 'seal' | 'unseal' | 'onChange'>
  rooms: Pick<Rooms, 'get' | 'users'>
  index: Pick<RecordingIndex, 'segments' | 'open'>
  streams: LiveStreams
  pushes: LivePushes
  mixes: LiveMixes
  logger: { warn(fields: object, message: string): void }
  clock?: () => number
}

const secretsSchema = z.strictObject({ link: z.string(), publish: z.string() })
const lock = 'lives'
/** Life of the token of an ordered live stream, in milliseconds; it ends with the stream anyway. */
const tokenMs = 365 * 24 * 60 * 60 * 1_000

/** Live streams that clients of the APIs order: they run, watched or not, until they are stopped or their room is gone. */
export class OrderedLives {
  readonly #options: OrderedLivesOptions
  readonly #clock: () => number
  #stopChecks = (): void => {}

  constructor(options: OrderedLivesOptions) {
    this.#options = options
    this.#clock = options.clock ?? Date.now
  }

  /** Goes on with those that ran before the last stop. */
  start(): void {
    const { store } = this.#options
    for (const live of store.all('lives').values()) {
      if (live.state === 'living') void this.#resume(live)
    }
    this.#stopChecks = checkRegularly(store, () => this.#check())
  }

  async close(): Promise<void> {
    this.#stopChecks()
    await this.#options.pushes.close()
    await this.#options.mixes.close()
  }

  /** @throws ApiError roomNotFound, roomClosed, userNotOnline, recordingUnavailable, parameter, storage */
  async begin({ name = '', tag = '', publishUrl = '', ...wish }: LiveWish): Promise<StoredLive> {
    const { store, rooms, pushes, mixes } = this.#options
    await checkWish(rooms, wish)
    if (wish.sound === 'room') await mixes.check()
    if (publishUrl !== '') await pushes.check(publishUrl)
    const id = newOrderId(store.all('lives'))
    const created_at = this.#clock()
    const link = sealLiveToken(store, {
      ...{ v: 1, room: wish.room_id, user: wish.user_id, source: sourceOf(wish.picture) },
      ...{ sound: wish.sound !== 'none', picture: wish.picture !== 'none', live: id, exp: created_at + tokenMs },
      ...(wish.sound === 'room' && { mixed: true }),
    })
    const secrets = JSON.stringify({ link, publish: publishUrl } satisfies z.output<typeof secretsSchema>)
    const live: StoredLive = {
      ...{ id, name, tag, ...wish, state: 'living', created_at },
      ...(publishUrl === '' ? {} : { pushed: true }),
      secrets_sealed: store.seal(secrets, placeOf('lives', id)),
    }
    try {
      this.#run(live)
      await store.transact([lock], (change) => {
        for (const old of prunedBy(store.all('lives'), limits.lives - 1, ({ state }) => state !== 'living')) {
          change.delete('lives', old.id)
        }
        change.put('lives', id, live)
      })
    } catch (error) {
      await this.#halt(live)
      throw error
    }
    return live
  }

  /** Ends a live stream; one that ended already stays as it is. @throws ApiError recordingNotFound, storage */
  async end(id: string): Promise<StoredLive> {
    const live = await this.#options.store.transact([lock], (change) => {
      const before = this.get(id)
      if (before.state !== 'living') return before
      const after: StoredLive = { ...before, state: 'stopped', ended_at: this.#clock() }
      change.put('lives', id, after)
      return after
    })
    await this.#halt(live)
    return live
  }

  /** @throws ApiError recordingNotFound */
  get(id: string): StoredLive {
    const live = this.#options.store.get('lives', id)
    if (live === undefined) throw new ApiError('recordingNotFound')
    return live
  }

  /** Live streams, the newest first. */
  list(filter: OrderFilter): StoredLive[] {
    return newestFirst(this.#options.store.all('lives')).filter((live) => matches(live, filter))
  }

  /** @throws ApiError recordingNotFound, storage */
  async delete(id: string): Promise<StoredLive> {
    const live = this.get(id)
    await this.#options.store.transact([lock], (change) => change.delete('lives', id))
    await this.#halt(live)
    return live
  }

  stateOf(live: StoredLive): LiveState {
    if (live.state !== 'living') return live.state
    return isRecorded(this.#options.index, live, live.created_at) ? 'living' : 'waiting'
  }

  /** Token of its page and playlist. @throws ApiError internal as Store.unseal does */
  tokenOf(live: StoredLive): string {
    return this.#secretsOf(live).link
  }

  #secretsOf({ id, secrets_sealed }: StoredLive): z.output<typeof secretsSchema> {
    return secretsSchema.parse(JSON.parse(this.#options.store.unseal(secrets_sealed, placeOf('lives', id))))
  }

  #run(live: StoredLive): void {
    const { streams, pushes, mixes } = this.#options
    const held = streams.hold(streamOf(live), live.id)
    const stream = live.sound === 'room' ? mixes.begin(live, held) : held
    const { publish } = this.#secretsOf(live)
    if (publish !== '') pushes.start(live, stream, publish)
  }

  async #halt(live: StoredLive): Promise<void> {
    this.#options.streams.release(streamOf(live), live.id)
    await this.#options.pushes.stop(live.id)
    await this.#options.mixes.end(live.id)
  }

  async #resume(live: StoredLive): Promise<void> {
    try {
      this.#run(live)
    } catch (error) {
      this.#options.logger.warn({ err: error, live: live.id }, 'a live stream does not go on')
      await this.#fail(live)
    }
  }

  async #fail(live: StoredLive): Promise<void> {
    const reason = 'The room could not be recorded any more when the controller started.'
    const failed: StoredLive = { ...live, state: 'failed', reason, ended_at: this.#clock() }
    await this.#options.store
      .transact([lock], (change) => {
        if (this.#options.store.get('lives', live.id)?.state === 'living') change.put('lives', live.id, failed)
      })
      .catch((error: unknown) => this.#options.logger.warn({ err: error, live: live.id }, 'a change was not stored'))
  }

  /** Ends those whose room is gone. */
  #check(): void {
    const { store, logger } = this.#options
    for (const { id, state, room_id } of store.all('lives').values()) {
      if (state !== 'living' || store.get('rooms', room_id) !== undefined) continue
      this.end(id).catch((error: unknown) => logger.warn({ err: error, live: id }, 'a live stream could not be ended'))
    }
  }
}

/** Recorded stream of a live stream. */
function streamOf({ room_id, user_id, picture }: StoredLive): RecordedStream {
  return { roomId: room_id, userId: user_id, source: sourceOf(picture), quality: 'main' }
}
