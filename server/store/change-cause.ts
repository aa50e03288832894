import { AsyncLocalStorage } from 'node:async_hooks'
import type { RecordReader } from './capability-rules.ts'
import type { Change, CollectionName, Collections } from './store.ts'

/** A transaction whose plan has run, but which is not stored yet. */
export interface PlannedChange {
  changes: readonly Change[]
  before: RecordReader
  after: RecordReader
}

/** API call or site file that changes the store. */
export interface ChangeCause {
  /**
   * Returns the events of a transaction, as changes (see `pendingEvent`), which the store adds to the transaction. Must
   * not throw.
   */
  eventsOf(planned: PlannedChange): readonly Change[]
  /** Checks a transaction before it is stored. Throws an error to reject the transaction. */
  check?(planned: PlannedChange): void
}

const causes = new AsyncLocalStorage<ChangeCause | undefined>()

/** Runs a call. Each transaction that the call starts, also after an await, is stored with the events of this cause. */
export function causedBy<T>(cause: ChangeCause, run: () => T): T {
  return causes.run(cause, run)
}

/**
 * Runs a part of a call with a check that may reject the transactions of this part. Events are those of the enclosing
 * call.
 */
export function checkedBy<T>(check: (planned: PlannedChange) => void, run: () => T): T {
  const outer = causes.getStore()
  return causes.run({ eventsOf: (planned) => outer?.eventsOf(planned) ?? [], check }, run)
}

/**
 * Runs work outside the current cause: the transactions of the work are stored without the events of the triggering
 * call.
 */
export function withoutCause<T>(run: () => T): T {
  return causes.getStore() === undefined ? run() : causes.run(undefined, run)
}

export function currentCause(): ChangeCause | undefined {
  return causes.getStore()
}

/** Returns the records of a collection that a transaction puts. */
export function recordsPut<C extends CollectionName>(planned: PlannedChange, collection: C): Collections[C][] {
  // The value of a change belongs to the collection of the change; the types of a filter cannot express that.
  return planned.changes.flatMap((change) =>
    change.collection === collection && change.value !== undefined ? [change.value as Collections[C]] : [],
  )
}

/** Returns the number of records of a collection that a transaction changes. */
export function countChanges({ changes }: PlannedChange, collection: CollectionName): number {
  return changes.filter((change) => change.collection === collection).length
}
