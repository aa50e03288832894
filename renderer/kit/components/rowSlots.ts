/**
 * Positions of rendered rows in the DOM. A row keeps its position while it is rendered, and a new row takes the
 * position of a removed one: updating its elements is cheaper than creating new ones, which is the main cost of
 * scrolling.
 */
export class RowSlots<Key> {
  #places = new Map<Key, number>()
  #next = 0
  /** Rows that the user has interacted with. */
  readonly #used = new Set<Key>()

  /** Reserves the elements of a row, so that its focus, open menu or text selection does not move to another row. */
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
