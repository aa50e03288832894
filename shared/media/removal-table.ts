import { maxRemovals, type Removal } from './control.ts'

/** Stands for no user: what is revoked is a link, or every link of a room that was made until then. */
export const everybody = ''

/**
 * Removals by room: how long a user is refused, and which links are void. The controller has one table for the site, and every process of an
 * embedded node a copy that the controller updates. Limited: the oldest entries go first.
 */
export class RemovalTable {
  /** Latest removal by room, user and link. */
  readonly #removals = new Map<string, Removal>()
  /** End of the refusal by room and user, milliseconds since the epoch. */
  readonly #refused = new Map<string, number>()
  /** Time by room and user before which links of this user are void. */
  readonly #outdated = new Map<string, number>()
  /** Ids of links that let nobody in any more. */
  readonly #revoked = new Map<string, true>()

  constructor(known: readonly Removal[] = []) {
    for (const removal of known) this.add(removal)
  }

  /** Notes a removal: the user is refused until then, and their earlier links are void. Or notes revoked links. */
  add(removal: Removal): void {
    const { roomId, userId, tokenId, at, until } = removal
    remember(this.#removals, JSON.stringify([roomId, userId, tokenId]), removal)
    const user = JSON.stringify([roomId, userId])
    if (userId !== everybody) remember(this.#refused, user, until)
    if (userId !== everybody || tokenId === '') remember(this.#outdated, user, at)
    if (tokenId !== '') remember(this.#revoked, tokenId, true)
  }

  /** Whether this removal is here already. */
  has({ roomId, userId, tokenId, at }: Removal): boolean {
    return this.#removals.get(JSON.stringify([roomId, userId, tokenId]))?.at === at
  }

  /** All that are remembered, in the order they happened. */
  list(): Removal[] {
    return [...this.#removals.values()]
  }

  /** Whether this user may not come in now, whatever the link. @param now milliseconds since the epoch */
  refuses(roomId: string, userId: string, now = Date.now()): boolean {
    return (this.#refused.get(JSON.stringify([roomId, userId])) ?? 0) > now
  }

  /** Whether a link, or a browser that came without one, is let in no more. */
  revoked(tokenId: string): boolean {
    return this.#revoked.has(tokenId)
  }

  /** Whether a link was made before its user was removed; of `everybody`: before the links of the room were revoked. @param issuedAt milliseconds since the epoch */
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
