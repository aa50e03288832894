import { limits } from '../../../shared/limits.ts'
import type { StoredTrash } from '../records.ts'
import type { Store } from '../store.ts'

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
export class TrashIndex {
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
