import { FencedError } from '../postgres/database-error.ts'
import type { Notices } from '../notices.ts'
import { type Medium, storageReasonOf } from '../storage.ts'

type Part = 'journal' | 'snapshot'

const snapshots: Readonly<Record<Medium, string>> = { disk: 'files', database: 'snapshot' }

/** Tracks whether the storage accepts writes. Adds a notice for the operator at each change. */
export class StorageHealth {
  readonly #notices: Notices
  readonly #clock: () => number
  readonly #medium: Medium
  readonly #errors: Record<Part, string | undefined> = { journal: undefined, snapshot: undefined }

  #since = 0

  constructor(medium: Medium, notices: Notices, clock: () => number) {
    this.#medium = medium
    this.#notices = notices
    this.#clock = clock
  }

  /** Time of the first rejected write, in milliseconds since the epoch; 0: all writes are accepted. */
  get refusesSince(): number {
    return this.lastError === undefined ? 0 : this.#since
  }

  /** Error of the last rejected write; undefined: all writes are accepted. */
  get lastError(): string | undefined {
    return this.#errors.journal ?? this.#errors.snapshot
  }

  /** Records the outcome of an operation. @param error undefined: the storage accepts the operation again */
  changed(part: Part, error: unknown): void {
    if (error === undefined) {
      this.#errors[part] = undefined
      this.#notices.add({
        level: 'info',
        at: this.#clock(),
        code: 'diskBack',
        message: `The ${this.#medium} takes changes again.`,
      })
      return
    }
    const text = storageReasonOf(error)
    if (this.lastError === undefined) this.#since = this.#clock()
    this.#errors[part] = text
    // The storage works: this controller is no longer the leader.
    if (error instanceof FencedError) return
    const what = part === 'journal' ? 'Changes are refused until it does' : 'Changes are still stored in the journal'
    const name = part === 'journal' ? part : snapshots[this.#medium]
    const message = `The ${this.#medium} does not take the ${name} (${text}). ${what}.`
    this.#notices.add({ level: 'error', at: this.#clock(), code: 'diskRefused', message })
  }
}
