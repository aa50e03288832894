/** So long after it took over, in milliseconds, a node knows everybody who comes along from the one before. */
const settleMs = 6_000

/** Ids that were at the node before, and that the current node has not named yet. */
export class Unsure {
  readonly #ids = new Set<string>()
  #timer: ReturnType<typeof setTimeout> | undefined

  /** @param gone told of those that were not named until then */
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

  /** It is named. Returns whether that was unsure. */
  delete(id: string): boolean {
    return this.#ids.delete(id)
  }

  clear(): void {
    clearTimeout(this.#timer)
    this.#ids.clear()
  }
}
