import { computed, onScopeDispose, ref } from 'vue'
import type { Ref } from 'vue'

/** Time after the last movement of the pointer in which a click is expected, in milliseconds. */
const aimingMs = 1_200

/**
 * Pauses the journal while the operator pressed pause, reads (scrolled down, details open), or aims at a row.
 * Otherwise a row would move away before it is clicked.
 */
export function useHold(reading: Ref<boolean>) {
  const paused = ref(false)
  const away = ref(false)
  const aiming = ref(false)
  let timer = 0

  /** Handles a movement of the pointer over the list. */
  function aim(): void {
    clearTimeout(timer)
    aiming.value = true
    timer = window.setTimeout(leave, aimingMs)
  }

  /** Handles a resting pointer, or one that left the list. */
  function leave(): void {
    clearTimeout(timer)
    aiming.value = false
  }

  onScopeDispose(leave)
  /** Paused for longer than a moment, so the page shows a notice. */
  const still = computed(() => paused.value || away.value || reading.value)
  return { paused, away, still, held: computed(() => still.value || aiming.value), aim, leave }
}
