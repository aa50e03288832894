import type { Removal } from '../../../shared/media/control.ts'

/** Stands for no user: what is revoked is a link, or every link of a room that was made until then. */
export const everybody = ''

/** Most entries kept of each kind; the oldest go first. */
const most = 10_000

/** Who was taken out of which room, for how long they are refused, and which links they may not use again. */
export class Bans {
  /** Until when, milliseconds since the epoch. */
  readonly #users = new Map<string, number>()
  /** Links of this user that are older than this are refused. */
  readonly #outdated = new Map<string, number>()
  readonly #tokens = new Set<string>()

  /** Somebody was taken out: refused until then, and every link issued before is over, as is the one that was theirs alone. Or links were revoked. */
  add({ roomId, userId, tokenId, at, until }: Removal): void {
    const key = JSON.stringify([roomId, userId])
    if (userId !== everybody) remember(this.#users, key, until)
    if (userId !== everybody || tokenId === '') remember(this.#outdated, key, at)
    if (tokenId === '') return
    this.#tokens.add(tokenId)
    for (const oldest of this.#tokens) {
      if (this.#tokens.size <= most) break
      this.#tokens.delete(oldest)
    }
  }

  /** Whether this user may not come in now, whatever the link. */
  refuses(roomId: string, userId: string, now = Date.now()): boolean {
    return (this.#users.get(JSON.stringify([roomId, userId])) ?? 0) > now
  }

  /** Whether a link, or a browser that came without one, is let in no more. */
  revoked(tokenId: string): boolean {
    return this.#tokens.has(tokenId)
  }

  /** Whether a link was made before its user was taken out; of `everybody`: before the links of the room were revoked. */
  outdated(roomId: string, userId: string, issuedAt: number): boolean {
    return issuedAt <= (this.#outdated.get(JSON.stringify([roomId, userId])) ?? -1)
  }
}

function remember(map: Map<string, number>, key: string, value: number): void {
  map.delete(key)
  map.set(key, value)
  for (const oldest of map.keys()) {
    if (map.size <= most) break
    map.delete(oldest)
  }
}
