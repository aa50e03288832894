import { randomBytes } from 'node:crypto'
import { limits } from '../../../shared/limits.ts'
import type { Settings } from '../../../shared/settings.ts'
import type { StoredDeleter, StoredTrash, TrashedThing } from '../records.ts'
import type { Store, Transaction } from '../store.ts'
import { withSharedParts } from '../state.ts'
import { TrashIndex } from './trash-index.ts'

const day = 24 * 60 * 60 * 1_000
/** Maximum delay between two checks, in milliseconds: a timer stops while the machine sleeps. */
const checkMs = 60_000
/** Maximum number of entries deleted for good in one transaction. */
const sweptAtOnce = 500

/** Author of a deletion, and the id of the call. */
export interface Deletion {
  by: StoredDeleter
  /** Empty: the call deletes nothing else. */
  batch: string
}

export interface TrashOptions {
  store: Store
  settings: () => Pick<Settings, 'trash'>
  logger: { warn(fields: object, message: string): void }
  /** Milliseconds since the epoch. */
  clock?: (() => number) | undefined
}

/** A deletion by the controller itself. */
export const bySystem: Deletion = { by: { type: 'system', name: '' }, batch: '' }

/** Returns a deletion by an API client. */
export function byClient(accessKey: string): Deletion {
  return { by: { type: 'client', name: accessKey }, batch: '' }
}

/**
 * Keeps deleted records for some days. A timer deletes entries for good if they are due, or if the trash is above its
 * limits. Only the leader runs the timer.
 */
export class Trash {
  readonly #options: TrashOptions
  readonly #clock: () => number
  readonly index: TrashIndex
  #timer: NodeJS.Timeout | undefined
  #sweeping: Promise<void> | undefined
  #running = false

  constructor(options: TrashOptions) {
    this.#options = options
    this.#clock = options.clock ?? Date.now
    this.index = new TrashIndex(options.store, () => this.#schedule())
  }

  /** Starts the final deletion of entries that are due. */
  start(): void {
    this.#running = true
    this.#schedule()
  }

  /** Stops the final deletion, and waits for a deletion under way. */
  async stop(): Promise<void> {
    this.#running = false
    clearTimeout(this.#timer)
    this.index.close()
    await this.#sweeping
  }

  /** Adds a record that the transaction deletes to the trash, if the trash is enabled. O(1). */
  moveToTrash(transaction: Transaction, thing: TrashedThing, { by, batch }: Deletion): void {
    const { days } = this.#options.settings().trash
    if (days === 0) return
    const bytes = JSON.stringify(thing).length
    if (bytes > limits.trashBytes) return
    const id = randomBytes(9).toString('base64url')
    const deleted_at = this.#clock()
    const expires_at = deleted_at + days * day
    const entry = withSharedParts({ id, deleted_at, expires_at, deleted_by: by, batch, bytes, ...thing })
    transaction.put('trash', id, entry)
  }

  /** Returns an entry that is not due yet. O(1). */
  get(id: string): StoredTrash | undefined {
    const entry = this.#options.store.get('trash', id)
    return entry !== undefined && entry.expires_at > this.#clock() ? entry : undefined
  }

  /** Returns the ids of the records that one call deleted, the oldest first. */
  ofBatch(batch: string): readonly string[] {
    return this.index.ofBatch(batch).filter((id) => this.get(id) !== undefined)
  }

  /** Returns the entries that are not due, the newest first. */
  entries(): StoredTrash[] {
    const now = this.#clock()
    return [...this.#options.store.all('trash').values()].filter(({ expires_at }) => expires_at > now).reverse()
  }

  /** Deletes entries for good. @returns the entries that existed */
  async purge(ids: readonly string[]): Promise<StoredTrash[]> {
    const { store } = this.#options
    const purged: StoredTrash[] = []
    for (let from = 0; from < ids.length; from += sweptAtOnce) {
      const some = [...new Set(ids.slice(from, from + sweptAtOnce))]
      const gone = await store.transact(some.map(lockOfTrash), (transaction) => {
        const there = some.flatMap((id) => store.get('trash', id) ?? [])
        for (const { id } of there) transaction.delete('trash', id)
        return there
      })
      purged.push(...gone)
    }
    return purged
  }

  #schedule(): void {
    if (this.#sweeping !== undefined) return
    const wait = this.index.isOverLimit() ? 0 : this.index.nextExpiry - this.#clock()
    if (wait !== Number.POSITIVE_INFINITY) this.#sweepIn(Math.max(wait, 0))
  }

  #sweepIn(milliseconds: number): void {
    clearTimeout(this.#timer)
    if (!this.#running) return
    const sweep = (): void => {
      this.#sweeping = this.#sweep()
    }
    this.#timer = setTimeout(sweep, Math.min(milliseconds, checkMs))
    this.#timer.unref()
  }

  async #sweep(): Promise<void> {
    try {
      await this.purge(this.index.due(this.#clock()))
      this.#sweeping = undefined
      this.#schedule()
    } catch (error) {
      this.#options.logger.warn({ err: error }, 'the trash was not emptied, trying again')
      this.#sweeping = undefined
      this.#sweepIn(checkMs)
    }
  }
}

/** Returns the name of the lock of an entry. A restore and the final deletion hold this lock. */
export function lockOfTrash(id: string): string {
  return `trash/${id}`
}
