import type { ChangeCause } from '../change-cause.ts'
import { changeOf, type State } from '../state.ts'
import type { StoredPendingEvent } from '../records.ts'
import { uuid } from '../system/system.ts'
import type { Committing } from '../journal/write-queues.ts'
import { type CapCounts, isCapped, type PlannedRecords, type Reservation } from './cap-counts.ts'
import type { Ticket } from './lock-table.ts'
import type { Change, CollectionName, Collections, Transaction } from '../store.ts'

/** A transaction under way: waiting for its locks, planned, or being written. */
export interface Job extends Committing {
  line: string
  cancelled: boolean
  readonly ticket: Ticket
  changes: readonly Change[]
  /** Reservations under caps, held until the changes are in memory. */
  reservations: readonly Reservation[]
  /** Time of arrival, by monotonic(). */
  readonly since: number
  readonly cause: ChangeCause | undefined
  /** Runs the plan; rethrows its errors. */
  readonly run: (transaction: Transaction) => void
  readonly succeed: () => void
  readonly fail: (error: unknown) => void
}

/** Collects the changes of a plan. */
export class PlanTransaction implements Transaction {
  readonly changes: Change[] = []
  readonly reservations: Reservation[] = []
  readonly #state: State
  readonly #counts: CapCounts
  /** Planned records per collection, for collections with caps. Few plans change such a collection twice. */
  #planned: Map<CollectionName, PlannedRecords<unknown>> | undefined
  /** Whether the plan has returned: later changes would be lost. */
  ended = false

  constructor(state: State, counts: CapCounts) {
    this.#state = state
    this.#counts = counts
  }

  /** @throws the error of a cap of the collection */
  put<C extends CollectionName>(collection: C, key: string, value: Collections[C]): void {
    if (isCapped(collection)) {
      const planned = this.#plannedOf(collection)
      for (const each of this.#counts.reserve(collection, key, value, planned)) this.reservations.push(each)
      planned.put ??= new Map()
      planned.put.set(key, value)
      planned.deleted?.delete(key)
    }
    this.#add(changeOf(collection, key, value))
  }

  delete(collection: CollectionName, key: string): void {
    if (isCapped(collection)) {
      const planned = this.#plannedOf(collection)
      const stored = this.#state[collection].get(key)
      planned.put?.delete(key)
      if (stored !== undefined) {
        planned.deleted ??= new Map()
        planned.deleted.set(key, stored)
      }
    }
    this.#add(changeOf(collection, key, undefined))
  }

  #plannedOf<C extends CollectionName>(collection: C): PlannedRecords<Collections[C]> {
    this.#planned ??= new Map()
    // The records belong to the collection; the map cannot express that.
    const planned = (this.#planned.get(collection) ?? {}) as PlannedRecords<Collections[C]>
    this.#planned.set(collection, planned)
    return planned
  }

  #add(change: Change): void {
    if (this.ended) throw new Error('A plan is synchronous: this transaction has ended.')
    this.changes.push(change)
  }
}

/**
 * Stores an event in the transaction of its change. The event is logged exactly once if the change is stored, and never
 * otherwise. This holds even if the caller receives an error or another controller becomes leader.
 */
export function putEvent(transaction: Transaction, event: StoredPendingEvent): void {
  transaction.put('pending_events', uuid(), event)
}

/** Returns the change that stores an event; see `putEvent`. */
export function pendingEvent(event: StoredPendingEvent): Change {
  return changeOf('pending_events', uuid(), event)
}
