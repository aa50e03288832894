import type { StoreNotice } from './store.ts'

/** Logger of the store, compatible with pino. */
export interface StoreLogger {
  info(details: object, message: string): void
  warn(details: object, message: string): void
  error(details: object, message: string): void
}

/** Maximum number of notices kept for the console. */
const kept = 100

/** Advice for the operator about lost changes (details: docs/operate/data.md). */
const afterLoss =
  'Check the disk; then recreate what is missing, or stop Roomdesk and restore a newer copy of the whole data folder.'

/** Returns the text of a notice, with advice if changes were lost. */
export function withAdvice({ message, lost }: StoreNotice): string {
  return lost === true ? `${message} ${afterLoss}` : message
}

/** Keeps and logs notices for the operator, and passes them to listeners. */
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
    const message = withAdvice(notice)
    if (notice.level === 'info') this.#logger?.info(details, message)
    else if (notice.level === 'warning') this.#logger?.warn(details, message)
    else this.#logger?.error(details, message)
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
