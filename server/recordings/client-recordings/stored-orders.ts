import { ApiError } from '../../../shared/result-codes.ts'
import type { Capabilities } from '../../capabilities/capabilities.ts'
import type { NewCapability } from '../../capabilities/capability.ts'
import type { Change, Collections, Store, Transaction } from '../../store/store.ts'
import { startTimer, type Timer } from '../../store/system/time.ts'
import { FollowedRecords } from '../followed-records.ts'
import { isWithoutCapability, matches, newestFirst, newOrderId, type OrderFilter, prunedBy } from './order-checks.ts'

/** Collections of what clients and operators order. */
type OrderCollection = 'recordings' | 'lives'

/** Dependencies of stored orders. */
export interface StoredOrdersParts<C extends OrderCollection> {
  store: Pick<Store, 'get' | 'all' | 'transact' | 'onChange' | 'leadership'>
  collection: C
  capabilities: Pick<Capabilities, 'put'>
  /** Orders that are stored at most; beyond it the ones that ended first are deleted. */
  limit: number
  isActive: (order: Collections[C]) => boolean
  /** An active order as it ends. */
  ended: (order: Collections[C], at: number) => Collections[C]
  /** Part of the transaction that deletes an order. */
  deleted?: (order: Collections[C], transaction: Transaction) => void
  /** See FollowedRecordsParts. */
  apply: (id: string, order: Collections[C] | undefined) => void
  /** An active order that nobody stops ends after this, in milliseconds. */
  maxMs: number
  logger: { warn(fields: object, message: string): void }
  /** Milliseconds since the epoch. */
  clock: () => number
}

/** Interval of the checks for orders that are over, in milliseconds. */
const checkMs = 30_000

/**
 * Orders as they are stored: recordings or live streams that somebody begins and ends. Every method only writes records; what runs for them follows from the records alone, so that an order
 * takes effect whether or not its caller got an answer.
 */
export class StoredOrders<C extends OrderCollection> {
  readonly #parts: StoredOrdersParts<C>
  readonly #followed: FollowedRecords<C>
  readonly #stops: (() => void)[] = []
  #timer: Timer | undefined

  constructor(parts: StoredOrdersParts<C>) {
    this.#parts = parts
    const { logger, collection } = parts
    this.#followed = new FollowedRecords({
      ...parts,
      onError: (err, id) => logger.warn({ err, collection, order: id }, 'an order was not carried out'),
    })
  }

  start(): void {
    const { store } = this.#parts
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

  /** Ends what runs; the orders stay. */
  close(): void {
    this.#timer?.cancel()
    for (const stop of this.#stops.splice(0)) stop()
    this.#followed.close()
  }

  newId(): string {
    return newOrderId(this.#parts.store.all(this.#parts.collection))
  }

  /** @throws ApiError recordingNotFound */
  get(id: string): Collections[C] {
    const order = this.#parts.store.get(this.#parts.collection, id)
    if (order === undefined) throw new ApiError('recordingNotFound')
    return order
  }

  /** Lists orders, the newest first. */
  list(filter: OrderFilter): Collections[C][] {
    return newestFirst(this.#parts.store.all(this.#parts.collection)).filter((order) => matches(order, filter))
  }

  /** @param capability with which the order ends @throws ApiError recordingUnavailable (too many are active), tokenIncorrect (its maker has ended), storage */
  async add(order: Collections[C], capability: NewCapability): Promise<void> {
    const { store, collection, limit, isActive, capabilities } = this.#parts
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
    const { store, collection } = this.#parts
    return await store.transact([collection], (transaction) => {
      const before = this.get(id)
      const after = next(before, transaction)
      if (after !== before) transaction.put(collection, id, after)
      return after
    })
  }

  /** Ends an order; one that ended already stays as it is. @throws ApiError recordingNotFound, storage */
  end(id: string): Promise<Collections[C]> {
    const { isActive, ended, clock } = this.#parts
    return this.change(id, (before) => (isActive(before) ? ended(before, clock()) : before))
  }

  /** @returns the deleted order @throws ApiError recordingNotFound, storage */
  async delete(id: string): Promise<Collections[C]> {
    const { store, collection } = this.#parts
    return await store.transact([collection], (transaction) => {
      const order = this.get(id)
      this.#delete(order, transaction)
      return order
    })
  }

  #delete(order: Collections[C], transaction: Transaction): void {
    transaction.delete(this.#parts.collection, order.id)
    this.#parts.deleted?.(order, transaction)
  }

  #check(): void {
    this.#endStale()
    this.#timer = startTimer(checkMs, () => this.#check(), false)
  }

  /** Ends orders whose room or capability is gone, and those that nobody stopped. */
  #endStale(): void {
    const { store, collection, isActive, maxMs, clock, logger } = this.#parts
    if (!store.leadership.isHeld) return
    for (const order of store.all(collection).values()) {
      if (!isActive(order)) continue
      const isAlone = store.get('rooms', order.room_id) === undefined || isWithoutCapability(store, order)
      if (!isAlone && order.created_at + maxMs >= clock()) continue
      // The next check tries again.
      this.end(order.id).catch((err: unknown) =>
        logger.warn({ err, collection, order: order.id }, 'an order was not ended'),
      )
    }
  }
}

/** Whether orders may end with a change: with the deletion of their room or capability. */
function mayEnd({ collection, value }: Change): boolean {
  return (collection === 'rooms' || collection === 'capabilities') && value === undefined
}
