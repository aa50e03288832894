import type { KnownController } from './site-member.ts'

/** The leader of the site, as last read from the database or announced by this controller. */
export class KnownLeader {
  readonly #listeners = new Set<(leader: KnownController | undefined) => void>()
  #current: KnownController | undefined

  /** @param before the leader known to the previous membership */
  constructor(before: KnownController | undefined) {
    this.#current = before
  }

  /** See `SiteMember.leader`. */
  get current(): KnownController | undefined {
    return this.#current
  }

  /** Sets the leader. Notifies listeners only if another controller leads, or the address has changed. */
  set(leader: KnownController | undefined): void {
    const before = this.#current
    this.#current = leader
    if (before?.id === leader?.id && JSON.stringify(before?.place) === JSON.stringify(leader?.place)) return
    for (const listener of this.#listeners) listener(leader)
  }

  /** @returns the unsubscribe function */
  onChange(listener: (leader: KnownController | undefined) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}
