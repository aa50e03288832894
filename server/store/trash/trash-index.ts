import { limits } from '../../../shared/limits.ts'
import type { StoredTrash } from '../records.ts'
import type { Store } from '../store.ts'

/** Part of a limit that stays when the oldest entries beyond it are deleted, so that not every deletion walks the trash. */
const keptPart = 0.99
/** Shortest time between two walks over the whole trash, in milliseconds. */
const walkMs = 1_000

/** Entries that one call deleted. */
interface Batch {
  /** Also those that have left the trash since. */
  ids: string[]
  /** Number of those that are there. */
  left: number
}

/** Finds entries of the trash by call and room number without walking all of them, and counts their bytes. The entries themselves stand in the store only. */
export class TrashIndex {
  readonly #store: Pick<Store, 'all' | 'onChange'>
  /** Most calls delete one thing: its id. */
  readonly #batches = new Map<string, string | Batch>()
  readonly #rooms = new Set<string>()
  /** Entries of a number beyond the first one, for the few numbers that have several. */
  readonly #further = new Map<string, number>()
  readonly #unsubscribe: () => void
  #bytes = 0
  #nextExpiry = Number.POSITIVE_INFINITY

  /** @param changed called after entries came or went */
  constructor(store: Pick<Store, 'all' | 'onChange'>, changed: () => void) {
    this.#store = store
    for (const entry of store.all('trash').values()) this.#set(undefined, entry)
    this.#unsubscribe = store.onChange(
      (changes, before) => {
        let own = 0
        for (const [at, { collection, value }] of changes.entries()) {
          if (collection !== 'trash') continue
          // Both are of the collection of the change.
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

  /** When the next entry may be due, milliseconds since the epoch; infinite for an empty trash. */
  get nextExpiry(): number {
    return this.#nextExpiry
  }

  /** Ids of what a call deleted, the oldest first; some may have left the trash. */
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

  /** Just below the limits: the oldest entries go soon, or have gone lately. */
  isFull(): boolean {
    return this.#count >= limits.trash * keptPart || this.#bytes >= limits.trashBytes * keptPart
  }

  /** Ids of entries that are due, and of the oldest beyond the limits. Walks the trash. */
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
    // An entry that is sealed anew keeps its call and its number.
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
