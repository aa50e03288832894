import { computed, onScopeDispose, ref, type Ref } from 'vue'

/** Time after the last movement of the pointer during which a click is expected, in milliseconds. */
const aimingMs = 1_200

/**
 * Pauses the journal while the operator has paused it, reads (has scrolled down, or opened details), or moves the
 * pointer to a row. Otherwise the row would move before the click.
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

  /** Handles the pointer at rest or outside of the list. */
  function leave(): void {
    clearTimeout(timer)
    aiming.value = false
  }

  onScopeDispose(leave)
  /** Whether the journal is paused for other reasons than the pointer, so that the page shows a notice. */
  const still = computed(() => paused.value || away.value || reading.value)
  return { paused, away, still, held: computed(() => still.value || aiming.value), aim, leave }
}
