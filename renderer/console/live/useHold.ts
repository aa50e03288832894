import { computed, onScopeDispose, ref, shallowRef } from 'vue'

/** Time after the last movement of the pointer during which a click is expected, in milliseconds. */
const aimingMs = 1_200

/**
 * Pauses a feed while the operator has paused it, reads (has scrolled down, or opened an entry), or moves the pointer
 * to a row. Otherwise the row would move before the click.
 */
export function useHold<T>() {
  /** Entry whose details are shown. */
  const opened = shallowRef<T | null>(null)
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

  /** Handles an entry that the operator opens. */
  function open(entry: T): void {
    opened.value = entry
  }

  /** Handles a list that is scrolled. @param isAway whether its first row is out of view */
  function scroll(isAway: boolean): void {
    away.value = isAway
  }

  /** Ends the pause, whatever its reason. */
  function resume(): void {
    leave()
    paused.value = away.value = false
    opened.value = null
  }

  onScopeDispose(leave)
  /** Whether the feed is paused for other reasons than the pointer, so that the page shows a notice. */
  const still = computed(() => paused.value || away.value || opened.value !== null)
  const held = computed(() => still.value || aiming.value)
  return { opened, paused, still, held, aim, leave, open, scroll, resume }
}
