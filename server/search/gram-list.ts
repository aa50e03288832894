/** Slots of the texts that contain one gram, in the order they were added. May name a slot that does not contain it any more. */
export class GramList {
  #slots = new Uint32Array(4)
  #length = 0
  #stale = 0

  get length(): number {
    return this.#length
  }

  at(index: number): number | undefined {
    return index < this.#length ? this.#slots[index] : undefined
  }

  /** Adds a slot, once even if it is added several times in a row. */
  add(slot: number): void {
    if (this.#length > 0 && this.#slots[this.#length - 1] === slot) return
    if (this.#length === this.#slots.length) this.#resize(Math.ceil(this.#length * 1.5))
    this.#slots[this.#length] = slot
    this.#length += 1
  }

  /** Notes that a slot no longer contains the gram. @returns whether so many are stale that `compact` pays off */
  noteStale(): boolean {
    this.#stale += 1
    return this.#stale > 32 && this.#stale > this.#length / 2
  }

  /** Drops stale and repeated slots. @param contains whether a slot contains the gram */
  compact(contains: (slot: number) => boolean): void {
    const kept = new Set<number>()
    for (let index = 0; index < this.#length; index++) {
      const slot = this.#slots[index]
      if (slot === undefined || !contains(slot)) continue
      // The last occurrence counts: it is the newest.
      kept.delete(slot)
      kept.add(slot)
    }
    this.#slots = Uint32Array.from(kept)
    this.#length = kept.size
    this.#stale = 0
    if (this.#slots.length < 4) this.#resize(4)
  }

  #resize(size: number): void {
    const slots = new Uint32Array(size)
    slots.set(this.#slots.subarray(0, this.#length))
    this.#slots = slots
  }
}
