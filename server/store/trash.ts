import { randomBytes } from 'node:crypto'
import { limits } from '../../shared/limits.ts'
import type { Settings } from '../../shared/settings.ts'
import type { StoredDeleter, StoredTrash, TrashedThing } from './records.ts'
import { withSharedParts } from './state.ts'
import type { Store, Transaction } from './store.ts'

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

interface TrashOptions {
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

/**
 * Fraction of a limit to which the trash is reduced when it is above the limit, so that not every deletion iterates
 * over the trash.
 */
const keptPart = 0.99
/** Minimum interval between two iterations over the whole trash, in milliseconds. */
const walkMs = 1_000

interface Batch {
  /** Ids of the entries of the batch, including entries that have left the trash. */
  ids: string[]
  /** Number of entries that are still in the trash. */
  left: number
}

/**
 * Finds entries of the trash by call and room number without iterating over all entries, and counts the bytes of the
 * entries. Only the store holds the entries themselves.
 */
class TrashIndex {
  readonly #store: Pick<Store, 'all' | 'onChange'>
  /** Batches by the id of the call. Most calls delete a single record: the value is then the id of its entry. */
  readonly #batches = new Map<string, string | Batch>()
  readonly #rooms = new Set<string>()
  /** Number of additional entries of a room number, for the few numbers with several entries. */
  readonly #further = new Map<string, number>()
  readonly #unsubscribe: () => void
  #bytes = 0
  #nextExpiry = Number.POSITIVE_INFINITY

  /** @param changed called after entries were added or removed */
  constructor(store: Pick<Store, 'all' | 'onChange'>, changed: () => void) {
    this.#store = store
    for (const entry of store.all('trash').values()) this.#set(undefined, entry)
    this.#unsubscribe = store.onChange(
      (changes, before) => {
        let own = 0
        for (const [at, { collection, value }] of changes.entries()) {
          if (collection !== 'trash') continue
          // Both values belong to the collection of the change.
          this.#set(before[at] as StoredTrash | undefined, value)
          own += 1
        }
        if (own > 0) changed()
      },
      ['trash'],
    )
  }

  close(): void {
    this.#unsubscribe()
  }

  /** Time at which the next entry may be due, in milliseconds since the epoch; Infinity: the trash is empty. */
  get nextExpiry(): number {
    return this.#nextExpiry
  }

  /** Returns the ids of the records that a call deleted, the oldest first; some may have left the trash. */
  ofBatch(batch: string): readonly string[] {
    const found = this.#batches.get(batch)
    return typeof found === 'string' ? [found] : (found?.ids ?? [])
  }

  holdsRoom(roomId: string): boolean {
    return this.#rooms.has(roomId)
  }

  isOverLimit(): boolean {
    return this.#count > limits.trash || this.#bytes > limits.trashBytes
  }

  /** Whether the trash is close to its limits or above them: the oldest entries will be, or were recently, deleted. */
  isFull(): boolean {
    return this.#count >= limits.trash * keptPart || this.#bytes >= limits.trashBytes * keptPart
  }

  /** Returns the ids of entries that are due, and of the oldest entries above the limits. Iterates over the trash. */
  due(now: number): string[] {
    const ids: string[] = []
    let [count, bytes] = [this.#count, this.#bytes]
    const part = this.isOverLimit() ? keptPart : 1
    let next = Number.POSITIVE_INFINITY
    for (const [id, entry] of this.#store.all('trash')) {
      if (entry.expires_at <= now || count > limits.trash * part || bytes > limits.trashBytes * part) {
        ids.push(id)
        count -= 1
        bytes -= entry.bytes
      } else next = Math.min(next, entry.expires_at)
    }
    this.#nextExpiry = Math.max(next, now + walkMs)
    return ids
  }

  get #count(): number {
    return this.#store.all('trash').size
  }

  #set(before: StoredTrash | undefined, entry: StoredTrash | undefined): void {
    this.#bytes += (entry?.bytes ?? 0) - (before?.bytes ?? 0)
    if (entry !== undefined) this.#nextExpiry = Math.min(this.#nextExpiry, entry.expires_at)
    // A resealed entry keeps its call and its room number.
    if (before !== undefined && entry !== undefined) return
    if (before !== undefined) this.#forget(before)
    if (entry !== undefined) this.#add(entry)
  }

  #add(entry: StoredTrash): void {
    const { id, batch } = entry
    const known = this.#batches.get(batch)
    if (typeof known === 'object') {
      known.ids.push(id)
      known.left += 1
    } else if (batch !== '') this.#batches.set(batch, known === undefined ? id : { ids: [known, id], left: 2 })
    if (entry.kind !== 'rooms') return
    const { room_id } = entry.record
    if (this.#rooms.has(room_id)) this.#further.set(room_id, (this.#further.get(room_id) ?? 0) + 1)
    else this.#rooms.add(room_id)
  }

  #forget(entry: StoredTrash): void {
    const { batch } = entry
    const known = this.#batches.get(batch)
    if (typeof known === 'object') known.left -= 1
    if (typeof known === 'string' || known?.left === 0) this.#batches.delete(batch)
    if (entry.kind !== 'rooms') return
    const { room_id } = entry.record
    const further = this.#further.get(room_id) ?? 0
    if (further === 0) this.#rooms.delete(room_id)
    else if (further === 1) this.#further.delete(room_id)
    else this.#further.set(room_id, further - 1)
  }
}
