import { onAbort } from '../../../shared/abort.ts'
/** A call was not answered within its deadline. */
export class DeadlineError extends Error {
  /** Time waited, in milliseconds. */
  readonly waited: number
  constructor(waited: number) {
    super(`no answer within ${waited} ms`)
    this.name = 'DeadlineError'
    this.waited = waited
  }
}

/** A group of pending calls that can be ended together, e.g. the calls of one node when its driver closes. */
export class OpenCalls {
  readonly #enders = new Set<(reason: Error) => void>()

  add(ender: (reason: Error) => void): void {
    this.#enders.add(ender)
  }

  delete(ender: (reason: Error) => void): void {
    this.#enders.delete(ender)
  }

  /** Ends all pending calls: each rejects with `reason`. */
  endAll(reason: Error): void {
    for (const ender of [...this.#enders]) ender(reason)
  }
}

/** Conditions that end a call before its answer. */
export interface CallLimits {
  /** Deadline in milliseconds. */
  milliseconds: number
  /** Cancels the call. */
  signal?: AbortSignal | undefined
  openCalls?: OpenCalls | undefined
}

/**
 * Runs a call with a deadline. The signal passed to `run` aborts when the deadline passes, the caller's signal aborts,
 * or the group of calls is ended. The returned promise rejects at once, without waiting for the call to react. The
 * timer does not keep the process running.
 * @throws DeadlineError when the deadline passed; the signal's reason; the group's reason; any error of the call
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
