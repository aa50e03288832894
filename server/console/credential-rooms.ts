import type { Store } from '../store/store.ts'

/**
 * Number of existing rooms created by each credential. The constructor counts the rooms, and changes of the store
 * update the counts, so that a lookup is O(1).
 */
export class CredentialRooms {
  readonly #creatorOf = new Map<string, string>()
  readonly #counts = new Map<string, number>()
  readonly #stop: () => void

  constructor(store: Pick<Store, 'all' | 'onChange'>) {
    for (const room of store.all('rooms').values()) this.#set(room.room_id, room.created_by)
    this.#stop = store.onChange(
      (changes) => {
        for (const change of changes) if (change.collection === 'rooms') this.#set(change.key, change.value?.created_by)
      },
      ['rooms'],
    )
  }

  count(accessKey: string): number {
    return this.#counts.get(accessKey) ?? 0
  }

  close(): void {
    this.#stop()
  }

  #set(roomId: string, creator: string | undefined): void {
    const before = this.#creatorOf.get(roomId)
    if (before === creator) return
    if (before !== undefined) this.#counts.set(before, (this.#counts.get(before) ?? 1) - 1)
    if (creator === undefined) this.#creatorOf.delete(roomId)
    else {
      this.#creatorOf.set(roomId, creator)
      this.#counts.set(creator, (this.#counts.get(creator) ?? 0) + 1)
    }
  }
}
