import type { Removal } from '../../../shared/media/control.ts'

/** Most entries kept of each kind; the oldest go first. */
const most = 10_000

/** Who was taken out of which room, for how long they are refused, and which links they may not use again. */
export class Bans {
  /** Until when, milliseconds since the epoch. */
  readonly #users = new Map<string, number>()
  /** Links of this user that are older than this are refused. */
  readonly #outdated = new Map<string, number>()
  readonly #tokens = new Set<string>()

  /** Somebody was taken out: refused until then, and every link issued before is over, as is the one that was used. */
  add({ roomId, userId, tokenId, at, until }: Removal): void {
    const key = JSON.stringify([roomId, userId])
    remember(this.#users, key, until)
    remember(this.#outdated, key, at)
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

  /** Whether a link was made before its user was taken out. */
  revoked(roomId: string, userId: string | undefined, tokenId: string, issuedAt: number): boolean {
    if (this.#tokens.has(tokenId)) return true
    return userId !== undefined && issuedAt <= (this.#outdated.get(JSON.stringify([roomId, userId])) ?? -1)
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
