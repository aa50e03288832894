/** Time after a takeover in which a node learns all users of its predecessor, in milliseconds. */
const settleMs = 6_000

/** Ids known from the previous node that the current one has not named yet. */
export class Unsure {
  readonly #ids = new Set<string>()
  #timer: ReturnType<typeof setTimeout> | undefined

  /** @param gone called with the ids that were not named in time */
  begin(ids: Iterable<string>, gone: (ids: readonly string[]) => void): void {
    this.clear()
    for (const id of ids) this.#ids.add(id)
    if (this.#ids.size === 0) return
    this.#timer = setTimeout(() => {
      const left = [...this.#ids]
      this.#ids.clear()
      gone(left)
    }, settleMs)
  }

  /** The node has named it. Returns whether it was pending. */
  delete(id: string): boolean {
    return this.#ids.delete(id)
  }

  clear(): void {
    clearTimeout(this.#timer)
    this.#ids.clear()
  }
}
