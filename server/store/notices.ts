import type { StoreNotice } from './store.ts'

/** What the store logs to: pino fits. */
export interface StoreLogger {
  info(details: object, message: string): void
  warn(details: object, message: string): void
  error(details: object, message: string): void
}

/** Notices kept for the console. */
const kept = 100

/** What the operator must know, kept, logged and told to whoever listens. */
export class Notices {
  readonly #notices: StoreNotice[] = []
  readonly #listeners = new Set<(notice: StoreNotice) => void>()
  readonly #logger: StoreLogger | undefined

  constructor(logger: StoreLogger | undefined) {
    this.#logger = logger
  }

  get all(): readonly StoreNotice[] {
    return this.#notices
  }

  add(notice: StoreNotice): void {
    this.#notices.push(notice)
    if (this.#notices.length > kept) this.#notices.shift()
    const details = { code: notice.code, ...(notice.file === undefined ? {} : { file: notice.file }) }
    if (notice.level === 'info') this.#logger?.info(details, notice.message)
    else if (notice.level === 'warning') this.#logger?.warn(details, notice.message)
    else this.#logger?.error(details, notice.message)
    for (const listener of this.#listeners) {
      try {
        listener(notice)
      } catch (error) {
        this.#logger?.error({ err: error }, 'A listener of the store failed.')
      }
    }
  }

  listen(listener: (notice: StoreNotice) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}
