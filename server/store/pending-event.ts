import { uuid } from './system/random.ts'
import type { StoredPendingEvent } from './records.ts'
import { changeOf } from './state.ts'
import type { Change, Transaction } from './store.ts'

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
