/** Pending callbacks, by their ids. */
const pending = new Map<number, () => void>()
let lastId = 0
let worker: Worker | undefined

/**
 * Calls back after a time, also in a hidden page: browsers may run a hidden page's timers only once a minute, but not
 * those of its worker.
 * @returns a function that cancels the timer
 */
export function steadyTimeout(run: () => void, milliseconds: number): () => void {
  const id = ++lastId
  const due = (): void => {
    if (pending.delete(id)) run()
  }
  pending.set(id, due)
  // Fallback for browsers without workers.
  const timer = setTimeout(due, milliseconds)
  sleeper()?.postMessage([id, milliseconds])
  return () => {
    clearTimeout(timer)
    pending.delete(id)
  }
}

function sleeper(): Worker | undefined {
  try {
    worker ??= new Worker(new URL('./steady-timer-worker.ts', import.meta.url), { type: 'module' })
    worker.onmessage = ({ data }: MessageEvent<number>) => pending.get(data)?.()
  } catch {
    return undefined
  }
  return worker
}
