import type { StoredRecordingWish } from '../store/records.ts'
import type { Store, Transaction } from '../store/store.ts'
import type { RecordingWish, StartedBy } from './recording-control.ts'

/** Key of a wish in the store. */
function wishKey({ roomId, userId = '' }: RecordingWish): string {
  return JSON.stringify([roomId, userId])
}

/** Recordings that somebody started by hand: stored, so that they survive a restart of the controller. */
export class RecordingWishes {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** Wishes of a room: of the whole room, of its cameras and people. */
  of(roomId: string): StoredRecordingWish[] {
    const all = this.#store.all('recording_wishes')
    if (all.size === 0) return []
    return [...all.values()].filter((wish) => wish.room_id === roomId)
  }

  get rooms(): Set<string> {
    return new Set(Array.from(this.#store.all('recording_wishes').values(), ({ room_id }) => room_id))
  }

  /** Stores a wish; one that is there stays. @returns whether it is new @throws ConsoleError recordingLimit */
  async add(wish: RecordingWish, { by, name }: StartedBy, at: number): Promise<boolean> {
    const key = wishKey(wish)
    return await this.#store.transact([`recording/${wish.roomId}`], (transaction) => {
      const all = this.#store.all('recording_wishes')
      if (all.has(key)) return false
      transaction.put('recording_wishes', key, { room_id: wish.roomId, user_id: wish.userId ?? '', by, name, at })
      return true
    })
  }

  /** Ends a wish. @returns whether there was one */
  async remove(wish: RecordingWish): Promise<boolean> {
    return await this.#store.transact([`recording/${wish.roomId}`], (transaction) =>
      deleteIfThere(this.#store, transaction, wishKey(wish)),
    )
  }

  /** Ends wishes whose room is gone, or whose camera is in another room or gone. */
  async forgetStale(changed: { roomId?: string; userId?: string }): Promise<void> {
    const stale = [...this.#store.all('recording_wishes').entries()].filter(([, { room_id, user_id }]) => {
      if (room_id === changed.roomId) return this.#store.get('rooms', room_id) === undefined
      return user_id === changed.userId && this.#store.get('devices', user_id)?.roomId !== room_id
    })
    if (stale.length === 0) return
    await this.#store.transact(
      stale.map(([, { room_id }]) => `recording/${room_id}`),
      (transaction) => stale.forEach(([key]) => deleteIfThere(this.#store, transaction, key)),
    )
  }

  /** Ends the wishes of a room whose meeting is over. @param isCamera of a user, whose wish goes on */
  async meetingEnded(roomId: string, isCamera: (userId: string) => boolean): Promise<StoredRecordingWish[]> {
    const over = this.of(roomId).filter(({ user_id }) => user_id === '' || !isCamera(user_id))
    if (over.length === 0) return []
    return await this.#store.transact([`recording/${roomId}`], (transaction) =>
      over.filter(({ user_id }) => deleteIfThere(this.#store, transaction, wishKey({ roomId, userId: user_id }))),
    )
  }
}

function deleteIfThere(store: Store, transaction: Transaction, key: string): boolean {
  if (!store.all('recording_wishes').has(key)) return false
  transaction.delete('recording_wishes', key)
  return true
}
