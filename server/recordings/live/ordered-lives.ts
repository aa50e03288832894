import { z } from 'zod'
import { limits } from '../../../shared/limits.ts'
import type { RecordedStream } from '../../../shared/recordings/segment.ts'
import type { Capabilities } from '../../capabilities/capabilities.ts'
import { clientOf } from '../../capabilities/capability.ts'
import type { CapabilityMaker } from '../../store/capability-record.ts'
import type { Rooms } from '../../rooms/room-lifecycle.ts'
import type { StoredLive } from '../../store/recording-records.ts'
import { sealedPlaceOf } from '../../store/sealed-places.ts'
import type { Store } from '../../store/store.ts'
import { wallClock } from '../../store/system/time.ts'
import type { RecordingIndex } from '../recording-index.ts'
import type { RecordingRequests } from '../recording-control.ts'
import { isRecorded, pictureSourceOf } from '../client-recordings/recorded-streams.ts'
import { checkOrder, StoredOrders } from '../client-recordings/stored-orders.ts'
import type { LiveStreams } from './live-streams.ts'
import type { LiveMixes } from './mix/live-mixes.ts'
import type { LivePushes } from './live-pushes.ts'

/** Order of a client or an operator for a live stream. */
export interface LiveRequest
  extends Pick<StoredLive, 'room_id' | 'user_id' | 'sound' | 'picture' | 'rtmp_url' | 'hls_url'> {
  maker: CapabilityMaker
  /** Name of the operator, as stored in events; undefined: a client sent the order. */
  operator?: string | undefined
  name?: string | undefined
  tag?: string | undefined
  /** RTMP server to push to; undefined: none. */
  publishUrl?: string | undefined
}

/** State of a live stream in responses. `waiting`: no media has arrived yet. */
export type LiveState = StoredLive['state'] | 'waiting'

export interface OrderedLivesOptions {
  store: Pick<Store, 'get' | 'all' | 'transact' | 'seal' | 'unseal' | 'onChange' | 'leadership'>
  rooms: Pick<Rooms, 'get' | 'users'>
  capabilities: Pick<Capabilities, 'prepare' | 'put'>
  index: Pick<RecordingIndex, 'segments' | 'open'>
  requests: Pick<RecordingRequests, 'check'>
  streams: LiveStreams
  pushes: LivePushes
  mixes: LiveMixes
  logger: { warn(fields: object, message: string): void }
  clock?: () => number
}

const secretsSchema = z.strictObject({ link: z.string(), publish: z.string() })

/**
 * Live streams ordered by clients of the APIs and by operators. A live stream runs, even without viewers, until it is
 * stopped or its room is deleted. The methods only write records; running streams, mixes and pushes follow from the
 * records.
 */
export class OrderedLives {
  readonly #options: OrderedLivesOptions
  readonly #clock: () => number
  readonly stored: StoredOrders<'lives'>
  /** Streams held for running live streams, by id. */
  readonly #running = new Map<string, RecordedStream>()
  /** Pushes and mixes that are ending, by id. */
  readonly #ending = new Map<string, Promise<unknown>>()

  constructor(options: OrderedLivesOptions) {
    const { store, capabilities, logger, clock = wallClock } = options
    this.#options = options
    this.#clock = clock
    this.stored = new StoredOrders({
      ...{
        store,
        capabilities,
        logger,
        clock,
        collection: 'lives',
        limit: limits.lives,
        maxMs: Number.POSITIVE_INFINITY,
      },
      isActive: ({ state }) => state === 'living',
      ended: (live, ended_at) => ({ ...live, state: 'stopped', ended_at }),
      apply: (id, live) => {
        if (live?.state === 'living') this.#run(live)
        else this.#halt(id)
      },
    })
  }

  start(): void {
    this.stored.start()
  }

  async close(): Promise<void> {
    this.stored.close()
    await Promise.all(this.#ending.values())
  }

  /** @throws ApiError roomNotFound, roomClosed, userNotOnline, recordingUnavailable, parameter, storage */
  async begin({ name = '', tag = '', publishUrl = '', maker, operator, ...request }: LiveRequest): Promise<StoredLive> {
    const { store, rooms, pushes, mixes, requests, capabilities } = this.#options
    await checkOrder(rooms, request)
    requests.check(request.room_id)
    if (request.sound === 'room') await mixes.check()
    const target = publishUrl === '' ? undefined : await pushes.check(publishUrl)
    const id = this.stored.newId()
    const { room_id, user_id } = request
    const scope =
      target === undefined ? ({ kind: 'live', live: id } as const) : ({ kind: 'push', live: id, target } as const)
    const capability = capabilities.prepare({ room_id, user_id, expires_at: 0, ...scope }, maker)
    const link = capability.token
    const secrets = JSON.stringify({ link, publish: publishUrl } satisfies z.output<typeof secretsSchema>)
    const live: StoredLive = {
      ...{ id, name, tag, ...request, state: 'living', created_by: clientOf(maker), created_at: this.#clock() },
      ...(operator === undefined ? {} : { ordered_by: operator }),
      ...(publishUrl === '' ? {} : { pushed: true }),
      capability: capability.id,
      secrets_sealed: store.seal(secrets, sealedPlaceOf('lives', id)),
    }
    await this.stored.add(live, capability)
    return live
  }

  /**
   * Ends a live stream with its push and mix. A live stream that has already ended stays unchanged.
   * @throws ApiError recordingNotFound, storage
   */
  async end(id: string): Promise<StoredLive> {
    const live = await this.stored.end(id)
    await this.#ending.get(id)
    return live
  }

  /** @throws ApiError recordingNotFound, storage */
  async delete(id: string): Promise<StoredLive> {
    const live = await this.stored.delete(id)
    await this.#ending.get(id)
    return live
  }

  stateOf(live: StoredLive): LiveState {
    if (live.state !== 'living') return live.state
    return isRecorded(this.#options.index, live, live.created_at) ? 'living' : 'waiting'
  }

  /** Returns the token in the addresses of a live stream's page and playlist. @throws the errors of Store.unseal */
  tokenOf(live: StoredLive): string {
    return this.#secretsOf(live).link
  }

  #secretsOf({ id, secrets_sealed }: StoredLive): z.output<typeof secretsSchema> {
    return secretsSchema.parse(JSON.parse(this.#options.store.unseal(secrets_sealed, sealedPlaceOf('lives', id))))
  }

  #run(live: StoredLive): void {
    if (this.#running.has(live.id)) return
    const { streams, pushes, mixes } = this.#options
    const stream = streamOf(live)
    this.#running.set(live.id, stream)
    const held = streams.hold(stream, live.id)
    const shown = live.sound === 'room' ? mixes.begin(live, held) : held
    const { publish } = this.#secretsOf(live)
    if (publish !== '') pushes.start(live, shown, publish)
  }

  #halt(id: string): void {
    const stream = this.#running.get(id)
    if (stream === undefined) return
    const { streams, pushes, mixes } = this.#options
    this.#running.delete(id)
    streams.release(stream, id)
    const ended = Promise.all([pushes.stop(id), mixes.end(id)]).finally(() => {
      if (this.#ending.get(id) === ended) this.#ending.delete(id)
    })
    this.#ending.set(id, ended)
  }
}

/** Returns the recorded stream of a live stream. */
function streamOf({ room_id, user_id, picture }: StoredLive): RecordedStream {
  return { roomId: room_id, userId: user_id, source: pictureSourceOf(picture), quality: 'main' }
}
