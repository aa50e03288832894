import { useEventListener } from '@vueuse/core'
import { onBeforeUnmount, onMounted, ref, type Ref, watch } from 'vue'

/** Time without a movement after which the pointer is hidden, in milliseconds. */
const pointerMs = 3_000

/** Returns whether to hide the pointer: `full` is true, and the pointer does not move. */
export function useStillPointer(full: Readonly<Ref<boolean>>): Ref<boolean> {
  const still = ref(false)
  let timer: ReturnType<typeof setTimeout> | undefined

  function move(): void {
    still.value = false
    clearTimeout(timer)
    if (full.value) timer = setTimeout(() => (still.value = true), pointerMs)
  }

  watch(full, move)
  useEventListener('pointermove', move)
  onMounted(move)
  onBeforeUnmount(() => clearTimeout(timer))
  return still
}
