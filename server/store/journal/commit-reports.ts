/** Listeners of a group commit. */
export interface CommitListener<T> {
  /** These are durable; called in the order in which they are stored. */
  onDurable: (group: readonly T[]) => void
  /** The storage refused these: none of them counts. */
  onRefused: (group: readonly T[], error: unknown) => void
  /** Milliseconds of a flush that succeeded. */
  onFlush: (milliseconds: number) => void
  /** A flush failed after good ones (with the error), or succeeded after failed ones (undefined). */
  onHealth: (error: unknown) => void
  /** Called when one of the above has thrown. Writing goes on. */
  onError: (error: unknown) => void
}

/** Reports the outcomes of flushes; a listener that throws does not end the writing. */
export class CommitReports<T> {
  readonly #listener: CommitListener<T>
  #healthy = true

  constructor(listener: CommitListener<T>) {
    this.#listener = listener
  }

  durable(group: readonly T[], milliseconds: number): void {
    if (!this.#healthy) {
      this.#healthy = true
      this.#guarded(() => this.#listener.onHealth(undefined))
    }
    this.#guarded(() => this.#listener.onDurable(group))
    this.#guarded(() => this.#listener.onFlush(milliseconds))
  }

  refused(group: readonly T[], error: unknown): void {
    this.#guarded(() => this.#listener.onRefused(group, error))
  }

  /** Reports the first failure after good flushes. */
  unhealthy(error: unknown): void {
    if (!this.#healthy) return
    this.#healthy = false
    this.#guarded(() => this.#listener.onHealth(error))
  }

  #guarded(call: () => void): void {
    try {
      call()
    } catch (error) {
      this.#listener.onError(error)
    }
  }
}
