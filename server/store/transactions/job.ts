import { changeOf } from '../state.ts'
import type { Committing } from '../journal/commit-queue.ts'
import type { Ticket } from './lock-table.ts'
import type { Change, CollectionName, Collections, Transaction } from '../store.ts'

/** A transaction on its way: waiting for its locks, planned, on its way to the disk. */
export interface Job extends Committing {
  line: string
  cancelled: boolean
  readonly ticket: Ticket
  changes: readonly Change[]
  /** When it arrived, by monotonic(). */
  readonly since: number
  /** Runs the plan; throws what it throws. */
  readonly run: (transaction: Transaction) => void
  readonly succeed: () => void
  readonly fail: (error: unknown) => void
}

/** Gathers what a plan does. */
export class PlanTransaction implements Transaction {
  readonly changes: Change[] = []
  /** Set when the plan has returned: what comes later would be lost. */
  ended = false

  put<C extends CollectionName>(collection: C, key: string, value: Collections[C]): void {
    this.#add(changeOf(collection, key, value))
  }

  delete(collection: CollectionName, key: string): void {
    this.#add(changeOf(collection, key, undefined))
  }

  #add(change: Change): void {
    if (this.ended) throw new Error('A plan is synchronous: this transaction has ended.')
    this.changes.push(change)
  }
}
