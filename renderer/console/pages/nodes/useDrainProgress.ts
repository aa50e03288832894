import { computed, ref, watch } from 'vue'
import type { NodeView } from '../../../../shared/console/nodes.ts'

/**
 * How far draining has come. The controller tells how many rooms are left, and there were when it began; more than that are measured by the most that were seen, so that a room that fills meanwhile
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
