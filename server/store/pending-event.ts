import { uuid } from './system/random.ts'
import type { StoredPendingEvent } from './records.ts'
import { changeOf } from './state.ts'
import type { Change, Transaction } from './store.ts'

/** Stores an event in the transaction of its change: it is logged exactly once if the change is stored, and never if it is not, whatever the caller is answered and whoever leads then. */
export function putEvent(transaction: Transaction, event: StoredPendingEvent): void {
  transaction.put('pending_events', uuid(), event)
}

/** The change that stores an event; see `putEvent`. */
export function pendingEvent(event: StoredPendingEvent): Change {
  return changeOf('pending_events', uuid(), event)
}
