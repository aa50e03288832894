import { onAbort } from './abort.ts'

export interface SleepOptions {
  signal?: AbortSignal | undefined
  /** Whether the timer keeps the program running; default: true. Has no effect in browsers. */
  ref?: boolean | undefined
}

/** Starts a timer. @returns function that cancels the timer */
export type StartTimer = (milliseconds: number, run: () => void, ref: boolean) => () => void

const ownTimers: StartTimer = (milliseconds, run, ref) => {
  const timer = setTimeout(run, milliseconds)
  // In browsers the timer is a number, without `unref`.
  if (!ref && typeof timer === 'object') timer.unref()
  return () => clearTimeout(timer)
}

/** Resolves after the given number of milliseconds. @throws the signal's reason if the signal aborts earlier */
export function sleep(
  milliseconds: number,
  { signal, ref = true }: SleepOptions = {},
  start: StartTimer = ownTimers,
): Promise<void> {
  if (signal === undefined) return new Promise((resolve) => start(milliseconds, resolve, ref))
  return new Promise((resolve, reject) => {
    let cancel = (): void => {}
    const unregister = onAbort(signal, () => {
      cancel()
      reject(signal.reason)
    })
    if (signal.aborted) return
    const due = (): void => {
      unregister()
      resolve()
    }
    cancel = start(milliseconds, due, ref)
  })
}

/** Resolves after the given number of milliseconds, or as soon as the signal aborts. Never rejects. */
export async function pause(milliseconds: number, options: SleepOptions, start: StartTimer = ownTimers): Promise<void> {
  try {
    await sleep(milliseconds, options, start)
  } catch {
    // The signal aborted, which ends the wait.
  }
}
