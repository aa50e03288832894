/** A change that is waiting to be written. */
export interface Committing {
  readonly line: string
  /** Further lines of a change that is stored in several lines. */
  readonly further?: readonly string[]
  /** Whether the caller received an error, so that the change must not be written. */
  cancelled: boolean
}

/** Maximum number of characters in one write. */
const groupLength = 512 * 1024

export class CommitQueue<T extends Committing> {
  #pending: T[] = []

  get size(): number {
    return this.#pending.length
  }

  add(entry: T): void {
    this.#pending.push(entry)
  }

  /** Removes an entry. @returns whether it was in the queue */
  remove(entry: T): boolean {
    const index = this.#pending.indexOf(entry)
    if (index === -1) return false
    this.#pending.splice(index, 1)
    return true
  }

  /** Removes and returns the entries for the next write; drops cancelled entries. */
  takeGroup(): T[] {
    const group: T[] = []
    let length = 0
    let taken = 0
    for (const entry of this.#pending) {
      if (length > 0 && length + entry.line.length > groupLength) break
      taken++
      if (entry.cancelled) continue
      length += entry.line.length
      group.push(entry)
    }
    this.#pending = taken === this.#pending.length ? [] : this.#pending.slice(taken)
    return group
  }

  takeAll(): T[] {
    const group = this.#pending
    this.#pending = []
    return group
  }

  /**
   * Returns an unwritten group to the front of the queue, without cancelled entries.
   * @returns the cancelled entries
   */
  putBack(group: readonly T[]): T[] {
    this.#pending = [...group.filter(({ cancelled }) => !cancelled), ...this.#pending]
    return group.filter(({ cancelled }) => cancelled)
  }
}
