import { limits } from '../../../shared/limits.ts'
import type { StoredTrash } from '../records.ts'
import type { Store } from '../store.ts'

/** Part of a limit that stays when the oldest entries beyond it are deleted, so that not every deletion walks the trash. */
const keptPart = 0.99
/** Shortest time between two walks over the whole trash, in milliseconds. */
const walkMs = 1_000

/** Finds entries of the trash by call and room number without walking all of them, and counts their bytes. */
export class TrashIndex {
  readonly #entries = new Map<string, StoredTrash>()
  readonly #batches = new Map<string, Set<string>>()
  readonly #rooms = new Map<string, number>()
  readonly #unsubscribe: () => void
  #bytes = 0
  #nextExpiry = Number.POSITIVE_INFINITY

  /** @param changed called after entries came or went */
  constructor(store: Store, changed: () => void) {
    for (const [id, entry] of store.all('trash')) this.#set(id, entry)
    this.#unsubscribe = store.onChange((changes) => {
      const own = changes.filter((change) => change.collection === 'trash')
      for (const { key, value } of own) this.#set(key, value)
      if (own.length > 0) changed()
    })
  }

  close(): void {
    this.#unsubscribe()
  }

  /** When the next entry may be due, milliseconds since the epoch; infinite for an empty trash. */
  get nextExpiry(): number {
    return this.#nextExpiry
  }

  ofBatch(batch: string): string[] {
    return [...(this.#batches.get(batch) ?? [])]
  }

  holdsRoom(roomId: string): boolean {
    return this.#rooms.has(roomId)
  }

  isOverLimit(): boolean {
    return this.#entries.size > limits.trash || this.#bytes > limits.trashBytes
  }

  /** Just below the limits: the oldest entries go soon, or have gone lately. */
  isFull(): boolean {
    return this.#entries.size >= limits.trash * keptPart || this.#bytes >= limits.trashBytes * keptPart
  }

  /** Ids of entries that are due, and of the oldest beyond the limits. Walks the trash. */
  due(now: number): string[] {
    const ids: string[] = []
    let [count, bytes] = [this.#entries.size, this.#bytes]
    const part = this.isOverLimit() ? keptPart : 1
    let next = Number.POSITIVE_INFINITY
    for (const [id, entry] of this.#entries) {
      if (entry.expires_at <= now || count > limits.trash * part || bytes > limits.trashBytes * part) {
        ids.push(id)
        count -= 1
        bytes -= entry.bytes
      } else next = Math.min(next, entry.expires_at)
    }
    this.#nextExpiry = Math.max(next, now + walkMs)
    return ids
  }

  #set(id: string, entry: StoredTrash | undefined): void {
    const before = this.#entries.get(id)
    if (before !== undefined) this.#forget(before)
    if (entry === undefined) return
    this.#entries.set(id, entry)
    this.#bytes += entry.bytes
    this.#nextExpiry = Math.min(this.#nextExpiry, entry.expires_at)
    if (entry.batch !== '') {
      const batch = this.#batches.get(entry.batch)
      if (batch === undefined) this.#batches.set(entry.batch, new Set([id]))
      else batch.add(id)
    }
    if (entry.kind === 'rooms') {
      const { room_id } = entry.record
      this.#rooms.set(room_id, (this.#rooms.get(room_id) ?? 0) + 1)
    }
  }

  #forget(entry: StoredTrash): void {
    this.#entries.delete(entry.id)
    this.#bytes -= entry.bytes
    const batch = this.#batches.get(entry.batch)
    batch?.delete(entry.id)
    if (batch?.size === 0) this.#batches.delete(entry.batch)
    if (entry.kind !== 'rooms') return
    const { room_id } = entry.record
    const left = (this.#rooms.get(room_id) ?? 1) - 1
    if (left > 0) this.#rooms.set(room_id, left)
    else this.#rooms.delete(room_id)
  }
}
