/**
 * Places of rendered rows. A row keeps its place while it is rendered, and a new row takes the place of one that has gone: its elements are changed instead of made
 * again, which is what scrolling costs most.
 */
export class RowSlots<Key> {
  #places = new Map<Key, number>()
  #next = 0
  /** Rows that somebody has used. */
  readonly #used = new Set<Key>()

  /** Keeps the elements of a row to itself: nobody's focus, open menu or text selection moves on to another row. */
  use(key: Key): void {
    if (this.#places.has(key)) this.#used.add(key)
  }

  /** @param keys of the rows rendered from now on; distinct @returns their places */
  assign(keys: readonly Key[]): readonly number[] {
    const before = this.#places
    const staying = new Set(keys)
    const free: number[] = []
    for (const [key, place] of before) {
      if (staying.has(key)) continue
      if (!this.#used.delete(key)) free.push(place)
    }
    const places = keys.map((key) => before.get(key) ?? free.pop() ?? this.#next++)
    this.#places = new Map(keys.map((key, at) => [key, places[at] ?? 0]))
    return places
  }
}
