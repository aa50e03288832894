/** Somebody who holds a row lock, or waits for it. */
export type LockOwner = object

interface Waiter {
  owner: LockOwner
  mode: 'share' | 'update'
  grant: () => void
}

/** The lock of one row: many share it (`for share`), or one changes it. Granted in the order of asking. */
export class RowLock {
  readonly #sharing = new Set<LockOwner>()
  #changing: LockOwner | undefined
  #waiting: Waiter[] = []

  /** Those who hold it. */
  get holders(): LockOwner[] {
    return this.#changing === undefined ? [...this.#sharing] : [this.#changing]
  }

  /** @returns undefined: it is taken; otherwise resolves when it is */
  take(owner: LockOwner, mode: 'share' | 'update'): Promise<void> | undefined {
    if (this.#waiting.length === 0 && this.#isFree(owner, mode)) {
      this.#give(owner, mode)
      return undefined
    }
    return new Promise((grant) => this.#waiting.push({ owner, mode, grant }))
  }

  /** It holds nothing any more, and waits for nothing. */
  release(owner: LockOwner): void {
    this.#sharing.delete(owner)
    if (this.#changing === owner) this.#changing = undefined
    this.#waiting = this.#waiting.filter((waiter) => waiter.owner !== owner)
    for (;;) {
      const next = this.#waiting[0]
      if (next === undefined || !this.#isFree(next.owner, next.mode)) return
      this.#waiting.shift()
      this.#give(next.owner, next.mode)
      next.grant()
    }
  }

  clear(): void {
    this.#sharing.clear()
    this.#changing = undefined
    this.#waiting = []
  }

  #isFree(owner: LockOwner, mode: 'share' | 'update'): boolean {
    if (this.#changing !== undefined && this.#changing !== owner) return false
    return mode === 'share' || this.#sharing.size === 0 || (this.#sharing.size === 1 && this.#sharing.has(owner))
  }

  #give(owner: LockOwner, mode: 'share' | 'update'): void {
    if (mode === 'update') this.#changing = owner
    else this.#sharing.add(owner)
  }
}
