import { maxEndedLinks, maxRemovals, maxRemovalsOfRoom, type Removal } from './control.ts'

/** Placeholder user id in a removal that revokes links: a single link, or every existing link of a room. */
export const everybody = ''

/** Minimum interval between two searches for expired links, in milliseconds. */
const searchEveryMs = 60_000

/** Removals in one room: the latest removals of users, and the time before which every link is invalid. */
class RoomRemovals {
  everyLink: Removal | undefined
  /** Latest removal of each user and link. */
  readonly removals = new Map<string, Removal>()
  /**
   * End of the refusal of each user, and time before which the user's links are invalid, in milliseconds since the
   * epoch.
   */
  readonly users = new Map<string, { until: number; at: number }>()
  /** Ids of the links of removed users. */
  readonly links = new Map<string, true>()

  /** Number of entries that count towards the limit of the site. */
  get size(): number {
    return this.removals.size + (this.everyLink === undefined ? 0 : 1)
  }

  add(removal: Removal): void {
    const { userId, tokenId, at, until } = removal
    if (userId === everybody) {
      this.everyLink = removal
      return
    }
    remember(this.removals, keyOf(removal), removal)
    remember(this.users, userId, { until, at })
    if (tokenId !== '') remember(this.links, tokenId, true)
  }

  dropOldest(): void {
    if (this.removals.size === 0) this.everyLink = undefined
    for (const map of [this.removals, this.users, this.links]) deleteOldest(map)
  }
}

/**
 * Removals by room: until when users are refused, and which links are invalid. The controller has one table for the
 * site. Every process of an embedded node has a copy, which the controller updates.
 * The number per room is limited, so that a host cannot displace the removals of other rooms. If the site has too many,
 * the room with the most removals loses its oldest one. Ended links, and the revocation of all links of a room, are
 * counted separately: if removals of users displaced a revoked link, the link would become valid again.
 */
export class RemovalTable {
  readonly #rooms = new Map<string, RoomRemovals>()
  /** Number of entries of all rooms. */
  #size = 0
  /** Revoked single links by id; `until` is the link's regular expiry. */
  readonly #endedLinks = new Map<string, Removal>()
  #searchedAt = Number.NEGATIVE_INFINITY

  constructor(known: readonly Removal[] = []) {
    for (const removal of known) this.add(removal)
  }

  /**
   * Adds a removal: the user is refused until its end, and the user's earlier links are invalid. Also adds revocations
   * of links.
   */
  add(removal: Removal): void {
    const { roomId, userId, tokenId } = removal
    if (userId === everybody && tokenId !== '') return this.#endLink(removal)
    const room = this.#rooms.get(roomId) ?? new RoomRemovals()
    this.#rooms.set(roomId, room)
    this.#change(room, () => room.add(removal))
    if (this.#size > maxRemovals) this.#dropOne()
  }

  /** Whether the table contains this removal. */
  has(removal: Removal): boolean {
    const { roomId, userId, tokenId, at } = removal
    const room = this.#rooms.get(roomId)
    const ofEverybody = tokenId === '' ? room?.everyLink : this.#endedLinks.get(tokenId)
    return (userId === everybody ? ofEverybody : room?.removals.get(keyOf(removal)))?.at === at
  }

  /** Lists all entries: removals of users by room, then ended links, each in chronological order. */
  list(): Removal[] {
    const ofRooms = [...this.#rooms.values()].flatMap(({ everyLink, removals }) => [
      ...(everyLink === undefined ? [] : [everyLink]),
      ...removals.values(),
    ])
    return [...ofRooms, ...this.#endedLinks.values()]
  }

  /** Whether this user is refused now, regardless of the link. @param now milliseconds since the epoch */
  refuses(roomId: string, userId: string, now = Date.now()): boolean {
    return (this.#rooms.get(roomId)?.users.get(userId)?.until ?? 0) > now
  }

  /** Whether a link, or a browser that joined without a link, is no longer admitted. */
  revoked(roomId: string, tokenId: string): boolean {
    return this.#endedLinks.has(tokenId) || this.#rooms.get(roomId)?.links.has(tokenId) === true
  }

  /**
   * Whether a link was created before its user was removed. For `everybody`: whether it was created before all links of
   * the room were revoked.
   * @param issuedAt milliseconds since the epoch
   */
  outdated(roomId: string, userId: string, issuedAt: number): boolean {
    const room = this.#rooms.get(roomId)
    const removed = userId === everybody ? room?.everyLink : room?.users.get(userId)
    return issuedAt <= (removed?.at ?? -1)
  }

  #change(room: RoomRemovals, change: () => void): void {
    this.#size -= room.size
    change()
    this.#size += room.size
  }

  /** Deletes the oldest entry of the room with the most entries. */
  #dropOne(): void {
    let [fullestId, fullest] = ['', new RoomRemovals()]
    for (const [id, room] of this.#rooms) if (room.size > fullest.size) [fullestId, fullest] = [id, room]
    this.#change(fullest, () => fullest.dropOldest())
    if (fullest.size === 0) this.#rooms.delete(fullestId)
  }

  #endLink(removal: Removal): void {
    this.#endedLinks.set(removal.tokenId, removal)
    if (this.#endedLinks.size <= maxEndedLinks) return
    const now = Date.now()
    if (now - this.#searchedAt >= searchEveryMs) {
      this.#searchedAt = now
      for (const [id, { until }] of this.#endedLinks) if (until <= now) this.#endedLinks.delete(id)
    }
    if (this.#endedLinks.size > maxEndedLinks) deleteOldest(this.#endedLinks)
  }
}

function keyOf({ userId, tokenId }: Removal): string {
  return JSON.stringify([userId, tokenId])
}

function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > maxRemovalsOfRoom) deleteOldest(map)
}

function deleteOldest(map: Map<string, unknown>): void {
  for (const oldest of map.keys()) {
    map.delete(oldest)
    return
  }
}
