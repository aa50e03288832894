import { computed, onScopeDispose, ref } from 'vue'
import type { Ref } from 'vue'

/** Milliseconds after the last movement of the pointer in which a click is expected. */
const aimingMs = 1_200

/**
 * Whether the journal stands still: because the operator paused it, or reads (scrolled down, details open), or is aiming at a row.
 * Otherwise a row would be gone from under the pointer before it is clicked.
 */
export function useHold(reading: Ref<boolean>) {
  const paused = ref(false)
  const away = ref(false)
  const aiming = ref(false)
  let timer = 0

  /** The pointer moved over the list. */
  function aim(): void {
    clearTimeout(timer)
    aiming.value = true
    timer = window.setTimeout(leave, aimingMs)
  }

  /** The pointer rests, or has left the list. */
  function leave(): void {
    clearTimeout(timer)
    aiming.value = false
  }

  onScopeDispose(leave)
  /** Held for longer than a moment: the operator is told. */
  const still = computed(() => paused.value || away.value || reading.value)
  return { paused, away, still, held: computed(() => still.value || aiming.value), aim, leave }
}
