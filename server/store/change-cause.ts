import { AsyncLocalStorage } from 'node:async_hooks'
import type { RecordReader } from './capability-rules.ts'
import type { Change, CollectionName, Collections } from './store.ts'

/** A transaction whose plan has run and which is not stored yet. */
export interface PlannedChange {
  changes: readonly Change[]
  /** Records as they are. */
  before: RecordReader
  /** Records as they will be. */
  after: RecordReader
}

/** Call or document that changes the store. */
export interface ChangeCause {
  /** Returns the events of one transaction, as changes (see `pendingEvent`); the store adds them to it. Must not throw. */
  eventsOf(planned: PlannedChange): readonly Change[]
  /** Judges one transaction before it is stored. May throw to refuse it. */
  check?(planned: PlannedChange): void
}

const causes = new AsyncLocalStorage<ChangeCause | undefined>()

/** Runs a call: each transaction that it begins, directly or after a wait, is stored with the events of this cause. */
export function causedBy<T>(cause: ChangeCause, run: () => T): T {
  return causes.run(cause, run)
}

/** Runs a part of a call whose transactions `check` may refuse. Their events are those of the call. */
export function checkedBy<T>(check: (planned: PlannedChange) => void, run: () => T): T {
  const outer = causes.getStore()
  return causes.run({ eventsOf: (planned) => outer?.eventsOf(planned) ?? [], check }, run)
}

/** Runs work outside of the current cause: its transactions are stored without the events of the call that triggered it. */
export function withoutCause<T>(run: () => T): T {
  return causes.getStore() === undefined ? run() : causes.run(undefined, run)
}

export function currentCause(): ChangeCause | undefined {
  return causes.getStore()
}

/** Records of a collection that a transaction puts. */
export function recordsPut<C extends CollectionName>(planned: PlannedChange, collection: C): Collections[C][] {
  // The value of a change belongs to its collection; a filter cannot express that.
  return planned.changes.flatMap((change) =>
    change.collection === collection && change.value !== undefined ? [change.value as Collections[C]] : [],
  )
}

/** Number of records of a collection that a transaction changes. */
export function countChanges({ changes }: PlannedChange, collection: CollectionName): number {
  return changes.filter((change) => change.collection === collection).length
}
