import type { Store } from './store.ts'
import { pauseOn } from './system/time.ts'

/** Pause before the next attempt, in milliseconds. */
const retryMs = 500

/**
 * Resolves when no earlier change holds any of these locks. The state then shows the result of a change whose outcome
 * was unknown to its caller. A change keeps its locks until the storage has answered, however long that takes. Never
 * rejects.
 * @returns false: the signal aborted first
 */
export async function knownOutcome(
  store: Pick<Store, 'transact'>,
  locks: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  while (!signal.aborted) {
    try {
      await store.transact(locks, () => undefined)
      return true
    } catch {
      // The deadline passed before the locks were free, or the store is closing. In the latter case the signal aborts.
      await pauseOn(retryMs, { signal })
    }
  }
  return false
}
