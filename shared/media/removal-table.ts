import { maxRemovals, type Removal } from './control.ts'

/** Id for no user: revokes a link, or every link of a room made until then. */
export const everybody = ''

/**
 * Removals by room: how long a user is refused, and which links are revoked. The controller has one table for the site, and every process of an
 * embedded node has a copy that the controller updates. Bounded: the oldest entries go first.
 */
export class RemovalTable {
  /** Latest removal by room, user and link. */
  readonly #removals = new Map<string, Removal>()
  /** End of the refusal by room and user, in milliseconds since the epoch. */
  readonly #refused = new Map<string, number>()
  /** Time before which links are refused, by room and user. */
  readonly #outdated = new Map<string, number>()
  /** Ids of revoked links. */
  readonly #revoked = new Map<string, true>()

  constructor(known: readonly Removal[] = []) {
    for (const removal of known) this.add(removal)
  }

  /** Adds a removal: the user is refused until then, and every earlier link is revoked, and so is their personal one. Or links were revoked. */
  add(removal: Removal): void {
    const { roomId, userId, tokenId, at, until } = removal
    remember(this.#removals, JSON.stringify([roomId, userId, tokenId]), removal)
    const user = JSON.stringify([roomId, userId])
    if (userId !== everybody) remember(this.#refused, user, until)
    if (userId !== everybody || tokenId === '') remember(this.#outdated, user, at)
    if (tokenId !== '') remember(this.#revoked, tokenId, true)
  }

  /** Tells whether this removal is already included. */
  has({ roomId, userId, tokenId, at }: Removal): boolean {
    return this.#removals.get(JSON.stringify([roomId, userId, tokenId]))?.at === at
  }

  /** Lists all removals, in order of time. */
  list(): Removal[] {
    return [...this.#removals.values()]
  }

  /** Tells whether this user is refused now, with any link. @param now milliseconds since the epoch */
  refuses(roomId: string, userId: string, now = Date.now()): boolean {
    return (this.#refused.get(JSON.stringify([roomId, userId])) ?? 0) > now
  }

  /** Tells whether a link, or a browser without one, is refused. */
  revoked(tokenId: string): boolean {
    return this.#revoked.has(tokenId)
  }

  /** Tells whether a link was made before its user's removal; for `everybody`: before the links of the room were revoked. @param issuedAt milliseconds since the epoch */
  outdated(roomId: string, userId: string, issuedAt: number): boolean {
    return issuedAt <= (this.#outdated.get(JSON.stringify([roomId, userId])) ?? -1)
  }
}

function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key)
  map.set(key, value)
  if (map.size <= maxRemovals) return
  for (const oldest of map.keys()) {
    map.delete(oldest)
    break
  }
}
