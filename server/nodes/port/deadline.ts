import { onAbort } from '../../../shared/abort.ts'
/** A call was not answered within its deadline. */
export class DeadlineError extends Error {
  /** Milliseconds that were waited. */
  readonly waited: number
  constructor(waited: number) {
    super(`no answer within ${waited} ms`)
    this.name = 'DeadlineError'
    this.waited = waited
  }
}

/** Calls under way that end together, e.g. those of one node when its driver closes. */
export class OpenCalls {
  readonly #enders = new Set<(reason: Error) => void>()

  add(ender: (reason: Error) => void): void {
    this.#enders.add(ender)
  }

  delete(ender: (reason: Error) => void): void {
    this.#enders.delete(ender)
  }

  /** Ends every call under way: each rejects with `reason`. */
  endAll(reason: Error): void {
    for (const ender of [...this.#enders]) ender(reason)
  }
}

/** Ends of a call besides its answer. */
export interface CallLimits {
  /** Deadline in milliseconds. */
  milliseconds: number
  /** The caller's wish to stop. */
  signal?: AbortSignal | undefined
  openCalls?: OpenCalls | undefined
}

/**
 * Runs a call with a deadline. The call's own signal aborts when the deadline passes, the caller's signal aborts or its group is ended; the result does not wait
 * for the call to notice. The timer does not hold the process.
 * @throws DeadlineError when the deadline passed; the signal's reason; the group's reason; whatever the call throws
 */
export function within<T>(callLimits: CallLimits, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { milliseconds, signal, openCalls } = callLimits
  const controller = new AbortController()
  return new Promise<T>((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason)
      return
    }
    const settle = (): void => {
      clearTimeout(timer)
      unregister()
      openCalls?.delete(end)
    }
    const end = (reason: unknown): void => {
      settle()
      reject(reason)
      controller.abort(reason)
    }
    const timer = setTimeout(() => end(new DeadlineError(milliseconds)), milliseconds)
    timer.unref()
    const unregister = signal === undefined ? () => {} : onAbort(signal, () => end(signal.reason))
    openCalls?.add(end)
    const answered = (value: T): void => {
      settle()
      resolve(value)
    }
    const failed = (error: unknown): void => {
      settle()
      reject(error)
    }
    try {
      run(controller.signal).then(answered, failed)
    } catch (error) {
      failed(error)
    }
  })
}
