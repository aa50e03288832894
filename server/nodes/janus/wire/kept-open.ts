import { unlessAborted } from '../../../../shared/abort.ts'

/** A shared connection or session: opened when somebody needs it, and again after it has ended. */
export class KeptOpen<T extends { readonly isOpen: boolean }> {
  readonly #open: () => Promise<T>
  #current: Promise<T> | undefined

  constructor(open: () => Promise<T>) {
    this.#open = open
  }

  /** The latest one, open or opening; undefined if it failed, or nobody needed it. Never rejects. */
  async current(): Promise<T | undefined> {
    // Whoever opened it gets the error.
    return await this.#current?.catch(() => undefined)
  }

  /** @throws what opening it failed with; the signal's reason */
  async get(signal: AbortSignal): Promise<T> {
    for (;;) {
      const shared = (this.#current ??= this.#begin())
      const opened = await unlessAborted(shared, signal)
      if (opened.isOpen) return opened
      this.#forget(shared)
    }
  }

  #begin(): Promise<T> {
    const begun = this.#open()
    // The caller gets the error; the next one tries again.
    begun.catch(() => this.#forget(begun))
    return begun
  }

  /** Another may have been begun meanwhile. */
  #forget(one: Promise<T>): void {
    if (this.#current === one) this.#current = undefined
  }
}
