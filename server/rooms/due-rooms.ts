/** Rooms sorted by due time: a binary heap with the position of each room, so that every change costs O(log n). */
export class DueRooms {
  readonly #heap: { roomId: string; at: number }[] = []
  readonly #places = new Map<string, number>()

  get size(): number {
    return this.#heap.length
  }

  /** Room with the earliest due time; undefined: no room is due at any time. O(1). */
  get first(): { roomId: string; at: number } | undefined {
    return this.#heap[0]
  }

  /** @param at milliseconds since the epoch; infinite: never */
  set(roomId: string, at: number): void {
    this.delete(roomId)
    if (at === Number.POSITIVE_INFINITY) return
    this.#heap.push({ roomId, at })
    this.#places.set(roomId, this.#heap.length - 1)
    this.#up(this.#heap.length - 1)
  }

  delete(roomId: string): void {
    const place = this.#places.get(roomId)
    if (place === undefined) return
    this.#swap(place, this.#heap.length - 1)
    this.#heap.pop()
    this.#places.delete(roomId)
    if (place >= this.#heap.length) return
    this.#up(place)
    this.#down(place)
  }

  /** Returns up to `max` rooms that are due before a moment, the earliest first. O(max²). */
  until(moment: number, max: number): { roomId: string; at: number }[] {
    const found: { roomId: string; at: number }[] = []
    const candidates = [0]
    while (found.length < max) {
      candidates.sort((one, other) => this.#at(one) - this.#at(other))
      const place = candidates.shift()
      const due = place === undefined ? undefined : this.#heap[place]
      if (place === undefined || due === undefined || due.at >= moment) break
      found.push(due)
      candidates.push(2 * place + 1, 2 * place + 2)
    }
    return found
  }

  #at(place: number): number {
    return this.#heap[place]?.at ?? Number.POSITIVE_INFINITY
  }

  #up(place: number): void {
    for (let at = place; at > 0; ) {
      const parent = (at - 1) >>> 1
      if (this.#at(parent) <= this.#at(at)) return
      this.#swap(at, parent)
      at = parent
    }
  }

  #down(place: number): void {
    for (let at = place; ; ) {
      const left = 2 * at + 1
      const child = this.#at(left + 1) < this.#at(left) ? left + 1 : left
      if (this.#at(child) >= this.#at(at)) return
      this.#swap(at, child)
      at = child
    }
  }

  #swap(one: number, other: number): void {
    const [first, second] = [this.#heap[one], this.#heap[other]]
    if (first === undefined || second === undefined) return
    this.#heap[one] = second
    this.#heap[other] = first
    this.#places.set(second.roomId, one)
    this.#places.set(first.roomId, other)
  }
}
