import { onScopeDispose } from 'vue'

/**
 * Limits a function to one run per `intervalMs`: the first call runs it immediately, further calls cause one run at the
 * end of the interval. Pending runs are cancelled when the scope ends.
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
