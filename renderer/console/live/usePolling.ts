import { useEventListener, useIntervalFn } from '@vueuse/core'
import { type MaybeRefOrGetter, toValue } from 'vue'

/**
 * Calls a function at an interval while the page is visible, and when it becomes visible after more than that interval.
 */
export function usePolling(run: () => void, everyMs: MaybeRefOrGetter<number>): void {
  let ranAt = Date.now()

  function runIfVisible(): void {
    if (document.hidden) return
    ranAt = Date.now()
    run()
  }

  function onVisible(): void {
    if (Date.now() - ranAt >= toValue(everyMs)) runIfVisible()
  }

  useIntervalFn(runIfVisible, everyMs)
  useEventListener(document, 'visibilitychange', onVisible)
}
