import { maxEndedLinks, maxRemovals, type Removal } from './control.ts'

/** Stands for no user: what is revoked is a link, or every link of a room that was made until then. */
export const everybody = ''

/** Minimum interval between two searches for links that have expired, in milliseconds. */
const searchEveryMs = 60_000

/**
 * Removals by room: how long a user is refused, and which links are void. The controller has one table for the site, and every process of an
 * embedded node a copy that the controller updates. Limited: the oldest removals of users go first. Ended links have places of their own, so that neither
 * removals of users nor links that have expired take the place of a link that would let somebody in.
 */
export class RemovalTable {
  /** Latest removal by room, user and link. */
  readonly #removals = new Map<string, Removal>()
  /** End of the refusal by room and user, milliseconds since the epoch. */
  readonly #refused = new Map<string, number>()
  /** Time by room and user before which links of this user are void. */
  readonly #outdated = new Map<string, number>()
  /** Ids of links by which a removed user came. */
  readonly #revoked = new Map<string, true>()
  /** Ends of single links by their id; `until` is when the link expires by itself. */
  readonly #endedLinks = new Map<string, Removal>()
  #searchedAt = Number.NEGATIVE_INFINITY

  constructor(known: readonly Removal[] = []) {
    for (const removal of known) this.add(removal)
  }

  /** Notes a removal: the user is refused until then, and their earlier links are void. Or notes revoked links. */
  add(removal: Removal): void {
    const { roomId, userId, tokenId, at, until } = removal
    if (userId === everybody && tokenId !== '') return this.#endLink(removal)
    remember(this.#removals, JSON.stringify([roomId, userId, tokenId]), removal)
    const user = JSON.stringify([roomId, userId])
    if (userId !== everybody) remember(this.#refused, user, until)
    remember(this.#outdated, user, at)
    if (tokenId !== '') remember(this.#revoked, tokenId, true)
  }

  /** Whether this removal is here already. */
  has({ roomId, userId, tokenId, at }: Removal): boolean {
    const known = userId === everybody && tokenId !== '' ? this.#endedLinks.get(tokenId) : undefined
    return (known ?? this.#removals.get(JSON.stringify([roomId, userId, tokenId])))?.at === at
  }

  /** All that are remembered: removals of users, then ended links, each in the order they happened. */
  list(): Removal[] {
    return [...this.#removals.values(), ...this.#endedLinks.values()]
  }

  /** Whether this user may not come in now, whatever the link. @param now milliseconds since the epoch */
  refuses(roomId: string, userId: string, now = Date.now()): boolean {
    return (this.#refused.get(JSON.stringify([roomId, userId])) ?? 0) > now
  }

  /** Whether a link, or a browser that came without one, is let in no more. */
  revoked(tokenId: string): boolean {
    return this.#revoked.has(tokenId) || this.#endedLinks.has(tokenId)
  }

  /** Whether a link was made before its user was removed; of `everybody`: before the links of the room were revoked. @param issuedAt milliseconds since the epoch */
  outdated(roomId: string, userId: string, issuedAt: number): boolean {
    return issuedAt <= (this.#outdated.get(JSON.stringify([roomId, userId])) ?? -1)
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

function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > maxRemovals) deleteOldest(map)
}

function deleteOldest(map: Map<string, unknown>): void {
  for (const oldest of map.keys()) {
    map.delete(oldest)
    return
  }
}
