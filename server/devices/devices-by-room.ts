import type { Store } from '../store/store.ts'

const none: ReadonlySet<string> = new Set()

/** Index of the devices by room, in order of creation. */
export class DevicesByRoom {
  readonly #rooms = new Map<string, Set<string>>()
  readonly #roomOf = new Map<string, string>()
  readonly #unsubscribe: () => void

  constructor(store: Store) {
    for (const [userId, device] of store.all('devices')) this.#set(userId, device.roomId)
    this.#unsubscribe = store.onChange(
      (changes) => {
        for (const change of changes) if (change.collection === 'devices') this.#set(change.key, change.value?.roomId)
      },
      ['devices'],
    )
  }

  close(): void {
    this.#unsubscribe()
  }

  /** Returns the userIds of the room's devices. */
  of(roomId: string): ReadonlySet<string> {
    return this.#rooms.get(roomId) ?? none
  }

  #set(userId: string, roomId: string | undefined): void {
    const before = this.#roomOf.get(userId)
    if (before === roomId) return
    if (before !== undefined) {
      const users = this.#rooms.get(before)
      users?.delete(userId)
      if (users?.size === 0) this.#rooms.delete(before)
    }
    if (roomId === undefined) {
      this.#roomOf.delete(userId)
      return
    }
    this.#roomOf.set(userId, roomId)
    const users = this.#rooms.get(roomId)
    if (users === undefined) this.#rooms.set(roomId, new Set([userId]))
    else users.add(userId)
  }
}
