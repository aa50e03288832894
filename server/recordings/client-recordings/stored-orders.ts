import { ApiError } from '../../../shared/result-codes.ts'
import type { Capabilities } from '../../capabilities/capabilities.ts'
import type { NewCapability } from '../../capabilities/capability.ts'
import type { Change, Collections, Store, Transaction } from '../../store/store.ts'
import { startTimer, type Timer } from '../../store/system/time.ts'
import { FollowedRecords } from '../followed-records.ts'
import {
  isWithoutCapability,
  matches,
  newestOrdersFirst,
  newOrderId,
  type OrderFilter,
  prunedBy,
} from './order-checks.ts'

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
