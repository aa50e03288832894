import { computed, ref, watch } from 'vue'
import type { NodeView } from '../../../shared/console/nodes.ts'

/**
 * How far draining has come. The controller tells how many rooms are left; the most that were seen is what progress is measured by, so that a room that fills meanwhile never moves the
 * bar past its end.
 */
export function useDrainProgress(node: () => NodeView) {
  const most = ref(0)

  watch(
    () => [node().config.name, node().draining, node().rooms_left] as const,
    ([name, draining, left], before) => {
      const another = name !== before?.[0] || draining !== before[1]
      most.value = another ? left : Math.max(most.value, left)
    },
    { immediate: true },
  )

  return {
    /** Rooms to be emptied since draining began, as far as this page saw. */
    most,
    emptied: computed(() => most.value - node().rooms_left),
    done: computed(() => node().rooms_left === 0),
  }
}
