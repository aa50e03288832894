import { refusal } from '../../../shared/refusals/refusal.ts'
import { ApiError } from '../../../shared/result-codes.ts'
import type { Capabilities } from '../../capabilities/capabilities.ts'
import type { NewCapability } from '../../capabilities/capability.ts'
import type { Rooms } from '../../rooms/room-lifecycle.ts'
import type { StoredLive, StoredRecording } from '../../store/recording-records.ts'
import type { Change, CollectionName, Collections, Store, Transaction } from '../../store/store.ts'
import { randomInteger } from '../../store/system/system.ts'
import { startTimer, type Timer } from '../../store/system/time.ts'

/** Collections of the orders of clients and operators. */
type OrderCollection = 'recordings' | 'lives'

export interface StoredOrdersDependencies<C extends OrderCollection> {
  store: Pick<Store, 'get' | 'all' | 'transact' | 'onChange' | 'leadership'>
  collection: C
  capabilities: Pick<Capabilities, 'put'>
  /** Maximum number of stored orders. Above this limit, the orders that ended first are deleted. */
  limit: number
  isActive: (order: Collections[C]) => boolean
  /** Returns an active order in its ended state. */
  ended: (order: Collections[C], at: number) => Collections[C]
  /** Adds further changes to the transaction that deletes an order. */
  deleted?: (order: Collections[C], transaction: Transaction) => void
  /** See `apply` of FollowedRecordsDependencies. */
  apply: (id: string, order: Collections[C] | undefined) => void
  /** Maximum duration of an active order, in milliseconds; then it ends on its own. */
  maxMs: number
  logger: { warn(fields: object, message: string): void }
  /** Returns the current time, in milliseconds since the epoch. */
  clock: () => number
}

/** Interval between checks for expired orders, in milliseconds. */
const checkMs = 30_000

/**
 * Stored orders: recordings or live streams with a start and an end. Every method only writes records, and all work
 * follows from the records alone. Thus an order takes effect even if its caller received no response.
 */
export class StoredOrders<C extends OrderCollection> {
  readonly #dependencies: StoredOrdersDependencies<C>
  readonly #followed: FollowedRecords<C>
  readonly #stops: (() => void)[] = []
  #timer: Timer | undefined

  constructor(dependencies: StoredOrdersDependencies<C>) {
    this.#dependencies = dependencies
    const { logger, collection } = dependencies
    this.#followed = new FollowedRecords({
      ...dependencies,
      onError: (err, id) => logger.warn({ err, collection, order: id }, 'an order was not carried out'),
    })
  }

  start(): void {
    const { store } = this.#dependencies
    this.#followed.start()
    this.#stops.push(
      store.onChange(
        (changes) => {
          if (changes.some(mayEnd)) this.#endStale()
        },
        ['rooms', 'capabilities'],
      ),
    )
    this.#check()
  }

  /** Stops all work; the orders stay stored. */
  close(): void {
    this.#timer?.cancel()
    for (const stop of this.#stops.splice(0)) stop()
    this.#followed.close()
  }

  newId(): string {
    return newOrderId(this.#dependencies.store.all(this.#dependencies.collection))
  }

  /** @throws ApiError recordingNotFound */
  get(id: string): Collections[C] {
    const order = this.#dependencies.store.get(this.#dependencies.collection, id)
    if (order === undefined) throw new ApiError('recordingNotFound')
    return order
  }

  /** Lists orders, the newest first. */
  list(filter: OrderFilter): Collections[C][] {
    return newestOrdersFirst(this.#dependencies.store.all(this.#dependencies.collection)).filter((order) =>
      matches(order, filter),
    )
  }

  /**
   * @param capability capability whose end also ends the order
   * @throws ApiError recordingUnavailable (too many are active), tokenIncorrect (the maker of the capability has
   * ended), storage
   */
  async add(order: Collections[C], capability: NewCapability): Promise<void> {
    const { store, collection, limit, isActive, capabilities } = this.#dependencies
    await store.transact([collection], (transaction) => {
      const old = prunedBy(store.all(collection), limit - 1, (each) => !isActive(each))
      for (const each of old) this.#delete(each, transaction)
      transaction.put(collection, order.id, order)
      capabilities.put(transaction, capability)
    })
  }

  /** @returns the order after the change @throws ApiError recordingNotFound, storage */
  async change(
    id: string,
    next: (before: Collections[C], transaction: Transaction) => Collections[C],
  ): Promise<Collections[C]> {
    const { store, collection } = this.#dependencies
    return await store.transact([collection], (transaction) => {
      const before = this.get(id)
      const after = next(before, transaction)
      if (after !== before) transaction.put(collection, id, after)
      return after
    })
  }

  /** Ends an order. An order that has already ended stays unchanged. @throws ApiError recordingNotFound, storage */
  end(id: string): Promise<Collections[C]> {
    const { isActive, ended, clock } = this.#dependencies
    return this.change(id, (before) => (isActive(before) ? ended(before, clock()) : before))
  }

  /** @returns the deleted order @throws ApiError recordingNotFound, storage */
  async delete(id: string): Promise<Collections[C]> {
    const { store, collection } = this.#dependencies
    return await store.transact([collection], (transaction) => {
      const order = this.get(id)
      this.#delete(order, transaction)
      return order
    })
  }

  #delete(order: Collections[C], transaction: Transaction): void {
    transaction.delete(this.#dependencies.collection, order.id)
    this.#dependencies.deleted?.(order, transaction)
  }

  #check(): void {
    this.#endStale()
    this.#timer = startTimer(checkMs, () => this.#check(), false)
  }

  /** Ends orders whose room or capability was deleted, and orders that reached their maximum duration. */
  #endStale(): void {
    const { store, collection, isActive, maxMs, clock, logger } = this.#dependencies
    if (!store.leadership.isHeld) return
    for (const order of store.all(collection).values()) {
      if (!isActive(order)) continue
      const isAlone = store.get('rooms', order.room_id) === undefined || isWithoutCapability(store, order)
      if (!isAlone && order.created_at + maxMs >= clock()) continue
      // The next check retries.
      this.end(order.id).catch((err: unknown) =>
        logger.warn({ err, collection, order: order.id }, 'an order was not ended'),
      )
    }
  }
}

/** Whether a change may end orders: it deletes a room or a capability. */
function mayEnd({ collection, value }: Change): boolean {
  return (collection === 'rooms' || collection === 'capabilities') && value === undefined
}

/**
 * Checks that an order requests sound or a picture, and that its room or user can be recorded.
 * @throws ApiError parameter, roomNotFound, roomClosed, userNotOnline, nodeTimeout
 */
export async function checkOrder(
  rooms: Pick<Rooms, 'get' | 'users'>,
  order: Pick<StoredRecording | StoredLive, 'room_id' | 'user_id' | 'sound' | 'picture'>,
): Promise<void> {
  if (order.sound === 'none' && order.picture === 'none') {
    throw new ApiError('parameter', { refusal: refusal('recordingOfNothing') })
  }
  await checkTarget(rooms, order)
}

/** Generates an unused id. It contains only digits, because some clients parse ids as numbers. */
function newOrderId(taken: ReadonlyMap<string, unknown>): string {
  for (;;) {
    const id = String(randomInteger(1_000_000_000, 2_147_483_646))
    if (!taken.has(id)) return id
  }
}

/**
 * Checks that a room, or a user in it, can be recorded.
 * @throws ApiError roomNotFound, roomClosed, userNotOnline, nodeTimeout
 */
export async function checkTarget(
  rooms: Pick<Rooms, 'get' | 'users'>,
  { room_id, user_id }: Pick<StoredRecording, 'room_id' | 'user_id'>,
): Promise<void> {
  if (rooms.get(room_id).closed) throw new ApiError('roomClosed')
  if (user_id === '') return
  const users = await rooms.users(room_id)
  if (!users.some(({ userId }) => userId === user_id)) throw new ApiError('userNotOnline')
}

/**
 * Whether the capability of a recording or live stream has ended. False for an order of an earlier version that has no
 * capability yet.
 */
function isWithoutCapability(
  store: Pick<Store, 'get'>,
  { capability }: Pick<StoredRecording | StoredLive, 'capability'>,
): boolean {
  return capability !== undefined && store.get('capabilities', capability) === undefined
}

/** Fields of a recording or live stream that filters use. */
interface Ordered {
  room_id: string
  user_id: string
  created_at: number
  ended_at?: number
}

/** Filter of recordings and live streams; absent fields match everything. */
export interface OrderFilter {
  roomId?: string | undefined
  userId?: string | undefined
  /** Range of the start time, both ends included, in milliseconds since the epoch. */
  from?: number | undefined
  to?: number | undefined
}

function matches({ room_id, user_id, created_at }: Ordered, { roomId, userId, from, to }: OrderFilter): boolean {
  return (
    (roomId === undefined || room_id === roomId) &&
    (userId === undefined || user_id === userId) &&
    (from === undefined || created_at >= from) &&
    (to === undefined || created_at <= to)
  )
}

/** Returns all orders, the newest first. */
function newestOrdersFirst<T extends Ordered>(all: ReadonlyMap<string, T>): T[] {
  return [...all.values()].sort((one, other) => other.created_at - one.created_at)
}

/** Returns the ended orders that exceed `limit`, the earliest ended first. */
function prunedBy<T extends Ordered>(all: ReadonlyMap<string, T>, limit: number, isOver: (ordered: T) => boolean): T[] {
  const excess = all.size - limit
  if (excess <= 0) return []
  const over = [...all.values()].filter(isOver)
  return over.sort((one, other) => (one.ended_at ?? 0) - (other.ended_at ?? 0)).slice(0, excess)
}

interface FollowedRecordsDependencies<C extends CollectionName> {
  store: Pick<Store, 'get' | 'all' | 'onChange' | 'leadership'>
  collection: C
  /**
   * Makes the running work match a record. A repeated call with the same record has no effect. `record` is undefined:
   * the record was deleted, or this controller lost the lease.
   * An error is reported, and the next change of the record retries.
   */
  apply: (key: string, record: Collections[C] | undefined) => void
  onError: (error: unknown, key: string) => void
}

/**
 * Derives running work from the records of a collection. Applies the records at the start, at every change by any
 * controller, and when this controller gains or loses the lease. A change takes effect even if its caller received no
 * response. Without the lease, no work runs.
 */
class FollowedRecords<C extends CollectionName> {
  readonly #dependencies: FollowedRecordsDependencies<C>
  /** Keys of the records whose work is running. */
  readonly #applied = new Set<string>()
  readonly #stops: (() => void)[] = []

  constructor(dependencies: FollowedRecordsDependencies<C>) {
    this.#dependencies = dependencies
  }

  start(): void {
    const { store, collection } = this.#dependencies
    this.#stops.push(
      store.onChange(
        (changes) => {
          for (const change of changes) if (change.collection === collection) this.#apply(change.key)
        },
        [collection],
      ),
      store.leadership.onChange(() => this.#applyAll()),
    )
    this.#applyAll()
  }

  /** Ends all running work. */
  close(): void {
    for (const stop of this.#stops.splice(0)) stop()
    for (const key of [...this.#applied]) this.#set(key, undefined)
  }

  #applyAll(): void {
    const { store, collection } = this.#dependencies
    for (const key of new Set([...this.#applied, ...store.all(collection).keys()])) this.#apply(key)
  }

  #apply(key: string): void {
    const { store, collection } = this.#dependencies
    this.#set(key, store.leadership.isHeld ? store.get(collection, key) : undefined)
  }

  #set(key: string, record: Collections[C] | undefined): void {
    const { apply, onError } = this.#dependencies
    if (record !== undefined) this.#applied.add(key)
    else if (!this.#applied.delete(key)) return
    try {
      apply(key, record)
    } catch (error) {
      onError(error, key)
    }
  }
}
