import { computed, ref, watch } from 'vue'
import type { NodeView } from '../../../../shared/domain/nodes.ts'

/**
 * Progress of draining. The controller reports the remaining rooms, and their number at the start; the maximum seen so far takes precedence, so that a room that gets users meanwhile
 * never moves the bar past its end.
 */
export function useDrainProgress(node: () => NodeView) {
  const most = ref(0)

  watch(
    () => [node().config.name, node().draining, node().rooms_left] as const,
    ([name, draining, left], before) => {
      const another = name !== before?.[0] || draining !== before[1]
      const began = node().drain?.rooms ?? 0
      most.value = Math.max(another ? began : most.value, left)
    },
    { immediate: true },
  )

  return {
    /** Rooms to be emptied since draining began. */
    most,
    emptied: computed(() => most.value - node().rooms_left),
    done: computed(() => node().rooms_left === 0),
  }
}
