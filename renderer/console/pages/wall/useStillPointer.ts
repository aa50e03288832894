import { useIdle } from '@vueuse/core'
import { computed, type Ref, watch } from 'vue'

/** Time without a movement after which the pointer is hidden, in milliseconds. */
const pointerMs = 3_000

/** Returns whether to hide the pointer: `full` is true, and the pointer does not move. */
export function useStillPointer(full: Readonly<Ref<boolean>>): Readonly<Ref<boolean>> {
  const { idle, reset } = useIdle(pointerMs, { events: ['pointermove'], listenForVisibilityChange: false })
  watch(full, reset)
  return computed(() => full.value && idle.value)
}
