import { onAbort } from '../../../shared/abort.ts'
import type { Taken } from './take-over.ts'

/** The caller of `lead` that waits for this controller to become leader. */
interface Waiting {
  resolve: (taken: Taken) => void
  reject: (error: unknown) => void
}

/** The request to become leader: answered once this controller leads, or refused. */
export class LeadRequest {
  #waiting: Waiting | undefined
  /** Error that prevents the program from running on this site. */
  #unfit: Error | undefined

  get isOpen(): boolean {
    return this.#waiting !== undefined
  }

  /** @throws the abort reason of `signal`; the error that prevents the program from running on this site */
  open(signal: AbortSignal): Promise<Taken> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) throw signal.reason
      if (this.#unfit !== undefined) throw this.#unfit
      // The signal outlives this role: a remaining listener would keep the whole role in memory.
      const forget = onAbort(signal, () => this.refuse(signal.reason))
      this.#waiting = {
        resolve: (taken) => {
          forget()
          resolve(taken)
        },
        reject: (error) => {
          forget()
          reject(error)
        },
      }
    })
  }

  refuse(error: unknown): void {
    this.#waiting?.reject(error)
    this.#waiting = undefined
  }

  /** Refuses this request and each later one, because the program cannot run on this site. */
  refuseAll(error: Error): void {
    this.#unfit = error
    this.refuse(error)
  }

  /** Accepts requests again: the database was read. */
  allow(): void {
    this.#unfit = undefined
  }

  /**
   * Closes the request without an answer.
   * @returns the function that answers the request; undefined: the request was withdrawn
   */
  take(): Waiting['resolve'] | undefined {
    const waiting = this.#waiting
    this.#waiting = undefined
    return waiting?.resolve
  }
}
