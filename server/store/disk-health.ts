import { reasonOf } from './storage-error.ts'
import type { Notices } from './notices.ts'

/** What the disk may refuse. */
type Part = 'journal' | 'files'

/** Whether the disk takes what it is given; the operator is told when that changes. */
export class DiskHealth {
  readonly #notices: Notices
  readonly #clock: () => number
  readonly #errors: Record<Part, string | undefined> = { journal: undefined, files: undefined }

  #since = 0

  constructor(notices: Notices, clock: () => number) {
    this.#notices = notices
    this.#clock = clock
  }

  /** Since when it refuses, milliseconds since the epoch; 0: it takes everything. */
  get refusesSince(): number {
    return this.lastError === undefined ? 0 : this.#since
  }

  /** What it refused last; undefined: it takes everything. */
  get lastError(): string | undefined {
    return this.#errors.journal ?? this.#errors.files
  }

  /** @param error undefined: it takes this part again. */
  changed(part: Part, error: unknown): void {
    if (error === undefined) {
      this.#errors[part] = undefined
      this.#notices.add({
        level: 'info',
        at: this.#clock(),
        code: 'diskBack',
        message: 'The disk takes changes again.',
      })
      return
    }
    const text = reasonOf(error)
    if (this.lastError === undefined) this.#since = this.#clock()
    this.#errors[part] = text
    const what = part === 'journal' ? 'Changes are refused until it does' : 'Changes are still stored in the journal'
    const message = `The disk does not take the ${part} (${text}). ${what}.`
    this.#notices.add({ level: 'error', at: this.#clock(), code: 'diskRefused', message })
  }
}
