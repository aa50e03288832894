/** The newest items of a bounded list: adding one to a full list overwrites the oldest. */
export class BoundedRing<T> {
  #items: T[] = []
  /** Index of the oldest one once it is full. */
  #head = 0
  #capacity: number

  /** @param capacity at least 1 */
  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get length(): number {
    return this.#items.length
  }

  get capacity(): number {
    return this.#capacity
  }

  add(item: T): void {
    if (this.#items.length < this.#capacity) this.#items.push(item)
    else {
      this.#items[this.#head] = item
      this.#head = (this.#head + 1) % this.#capacity
    }
  }

  /** The i-th oldest. */
  at(i: number): T | undefined {
    return this.#items[(this.#head + i) % this.#items.length]
  }

  /** Takes on a new bound; the newest items stay. */
  fit(capacity: number): void {
    if (capacity === this.#capacity) return
    const ordered = [...this.#items.slice(this.#head), ...this.#items.slice(0, this.#head)]
    this.#items = ordered.slice(-capacity)
    this.#head = 0
    this.#capacity = capacity
  }

  clear(): void {
    this.#items = []
    this.#head = 0
  }
}
