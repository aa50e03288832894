import { computed, ref, watch } from 'vue'
import type { NodeView } from '../../../../shared/domain/nodes.ts'

/**
 * Progress of draining. The controller reports the remaining rooms and their initial number. The highest number seen
 * replaces the initial one, because a room that gets users meanwhile would move the bar beyond its start.
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
    /** Number of rooms to be emptied since draining began. */
    most,
    emptied: computed(() => most.value - node().rooms_left),
    done: computed(() => node().rooms_left === 0),
  }
}
