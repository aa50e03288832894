import { maxRemovals, type Removal } from '../../../shared/media/control.ts'

/** Who was taken out of which room, for the process that takes the place of another. Bounded: the oldest go first. */
export class RemovalList {
  /** By room and user: the latest of each, and of each link that was not bound to a user. */
  readonly #removals = new Map<string, Removal>()

  constructor(known: readonly Removal[] = []) {
    for (const removal of known) this.add(removal)
  }

  add({ roomId, userId, tokenId, at, until }: Removal): void {
    const key = JSON.stringify([roomId, userId, tokenId])
    this.#removals.delete(key)
    this.#removals.set(key, { roomId, userId, tokenId, at, until })
    for (const oldest of this.#removals.keys()) {
      if (this.#removals.size <= maxRemovals) break
      this.#removals.delete(oldest)
    }
  }

  /** In the order they happened. */
  list(): Removal[] {
    return [...this.#removals.values()]
  }
}
