/** Something that waits for the disk. */
export interface Committing {
  /** Its journal line. */
  readonly line: string
  /** Lines behind it, of a change that is stored in several. */
  readonly further?: readonly string[]
  /** Its caller was answered that it failed, so it must not be written any more. */
  cancelled: boolean
}

/** Maximum of characters in one write. */
const groupLength = 512 * 1024

/** Holds the changes that wait for the disk, in their order. */
export class CommitQueue<T extends Committing> {
  #pending: T[] = []

  get size(): number {
    return this.#pending.length
  }

  add(entry: T): void {
    this.#pending.push(entry)
  }

  /** Removes an entry. @returns whether it waited */
  remove(entry: T): boolean {
    const index = this.#pending.indexOf(entry)
    if (index === -1) return false
    this.#pending.splice(index, 1)
    return true
  }

  /** Takes so many from the front as go into one write, without those that were cancelled. */
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

  /** Puts a group that was not written in front of later entries, but for those cancelled meanwhile. @returns the cancelled ones */
  putBack(group: readonly T[]): T[] {
    this.#pending = [...group.filter(({ cancelled }) => !cancelled), ...this.#pending]
    return group.filter(({ cancelled }) => cancelled)
  }
}
