/** Time after a takeover in which a node receives all users of its predecessor, in milliseconds. */
const settleMs = 6_000

/** Ids known from the previous node that the current one has not reported yet. */
export class Unsure {
  readonly #ids = new Set<string>()
  #timer: ReturnType<typeof setTimeout> | undefined

  /** @param gone called with the ids that were not reported in time */
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

  /** Removes an id that the node has reported. Returns whether it was pending. */
  delete(id: string): boolean {
    return this.#ids.delete(id)
  }

  clear(): void {
    clearTimeout(this.#timer)
    this.#ids.clear()
  }
}
