import { unlessAborted } from '../../../../shared/abort.ts'

/** A shared connection or session, which is opened on demand, and reopened after it has ended. */
export class KeptOpen<T extends { readonly isOpen: boolean }> {
  readonly #open: () => Promise<T>
  #current: Promise<T> | undefined

  constructor(open: () => Promise<T>) {
    this.#open = open
  }

  /**
   * Returns the latest connection, after waiting until it is open. Returns undefined if it could not be opened, or none
   * was requested. Never rejects.
   */
  async current(): Promise<T | undefined> {
    // The error is reported by `get`.
    return await this.#current?.catch(() => undefined)
  }

  /**
   * Returns an open connection, and opens it if necessary.
   * @throws the error of opening the connection; the signal's reason
   */
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
    // The caller gets the error; the next call tries again.
    begun.catch(() => this.#forget(begun))
    return begun
  }

  /** Drops a connection, unless another connection has already replaced it. */
  #forget(one: Promise<T>): void {
    if (this.#current === one) this.#current = undefined
  }
}
