import { useTimeoutFn } from '@vueuse/core'
import { computed, ref, watch } from 'vue'

/**
 * Pages of a wall, which rotate after some time.
 * @param wall `seconds` is the time of a page, 0: no rotation; `held`: something else keeps the current page
 */
export function usePages(wall: {
  tiles: () => number
  perPage: () => number
  seconds: () => number
  held: () => boolean
}) {
  const chosen = ref(0)
  /** Whether the operator has stopped the rotation. */
  const stopped = ref(false)
  const count = computed(() => Math.max(1, Math.ceil(wall.tiles() / Math.max(1, wall.perPage()))))
  const page = computed(() => Math.min(chosen.value, count.value - 1))
  /** Incremented to restart the time of a page. */
  const turns = ref(0)

  /** Moves by a number of pages, past the last one to the first, and restarts the timer of the page. */
  function turn(steps: number): void {
    chosen.value = (page.value + steps + count.value) % count.value
    turns.value += 1
  }

  const timer = useTimeoutFn(
    () => turn(1),
    () => wall.seconds() * 1_000,
    { immediate: false },
  )
  watch(
    () => [wall.seconds(), wall.held(), stopped.value, count.value > 1, turns.value] as const,
    ([every, isHeld, isStopped, several]) => {
      timer.stop()
      if (every > 0 && several && !isHeld && !isStopped) timer.start()
    },
    { immediate: true },
  )
  return { page, count, stopped, turn }
}
