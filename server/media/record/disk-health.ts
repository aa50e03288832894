import { totalmem } from 'node:os'
import { errorCode } from '../../../shared/error-code.ts'
import type { DiskTrouble } from './disk-file.ts'

const mebibyte = 1024 * 1024
/** Limit of what waits for the disk in all files, in bytes: two and a half seconds of 200 cameras, up to ten on a machine with 16 GB of memory. A disk that others keep busy stalls for seconds. */
const maxWaiting = Math.min(512 * mebibyte, Math.max(128 * mebibyte, totalmem() / 32))
/** Time after which a full disk is tried again, in milliseconds. */
const fullMs = 10_000
/** Time after which a disk that failed otherwise is tried again, in milliseconds. */
const failedMs = 2_000

/** State of the disk: what waits for it, and why it takes nothing. */
export class DiskHealth {
  readonly #report: (message: string, error: unknown) => void
  #waiting = 0
  #trouble: { kind: DiskTrouble; until: number } | undefined

  /** @param report logs an error of the disk */
  constructor(report: (message: string, error: unknown) => void) {
    this.#report = report
  }

  /** Why no new file should be begun now; undefined: one may be. */
  get trouble(): DiskTrouble | undefined {
    this.#forget()
    return this.#trouble?.kind ?? (this.#waiting > maxWaiting / 2 ? 'failed' : undefined)
  }

  /** Counts bytes that wait, or no longer do. Returns whether too many wait. */
  waits(bytes: number): boolean {
    this.#waiting += bytes
    return this.#waiting > maxWaiting
  }

  /** An operation failed. Returns what kind of trouble that is. */
  failed(path: string, error: unknown): DiskTrouble {
    const code = errorCode(error)
    const kind = code === 'ENOSPC' || code === 'EDQUOT' ? 'diskFull' : 'failed'
    this.#forget()
    const isNew = this.#trouble?.kind !== kind
    this.#trouble = { kind, until: performance.now() + (kind === 'diskFull' ? fullMs : failedMs) }
    if (isNew) this.#report(kind === 'diskFull' ? 'recordings: the disk is full' : `recordings: ${path} failed`, error)
    return kind
  }

  #forget(): void {
    if (this.#trouble !== undefined && performance.now() > this.#trouble.until) this.#trouble = undefined
  }
}
