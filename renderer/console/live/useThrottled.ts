import { onScopeDispose } from 'vue'

/**
 * Limits a function to one run per `intervalMs`: the first call runs it at once, later calls run it together at the end
 * of the interval. Calls that wait when the scope ends are dropped.
 */
export function useThrottled(run: () => void, intervalMs: number): () => void {
  let timer: number | undefined
  let isWanted = false

  function start(): void {
    isWanted = false
    timer = window.setTimeout(() => {
      timer = undefined
      if (isWanted) start()
    }, intervalMs)
    run()
  }

  onScopeDispose(() => clearTimeout(timer))
  return () => {
    if (timer === undefined) start()
    else isWanted = true
  }
}
