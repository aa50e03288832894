import { useTimeoutFn } from '@vueuse/core'
import { computed, type ComputedRef, ref, type Ref, watch } from 'vue'

/** Pages of a wall. */
interface Pages {
  /** Index of the current page. */
  page: Readonly<Ref<number>>
  count: ComputedRef<number>
  /** Whether the operator has stopped the rotation. */
  stopped: Ref<boolean>
  /** Moves by a number of pages, past the last one to the first, and restarts the timer of the page. */
  turn: (steps: number) => void
}

/** Dependencies of the pages of a wall. */
interface PageSources {
  tiles: () => number
  perPage: () => number
  /** Time of a page in seconds; 0: no rotation. */
  seconds: () => number
  /** Whether something else keeps the current page. */
  held: () => boolean
}

/** Pages of a wall, which rotate after some time. */
export function usePages({ tiles, perPage, seconds, held }: PageSources): Pages {
  const chosen = ref(0)
  const stopped = ref(false)
  const count = computed(() => Math.max(1, Math.ceil(tiles() / Math.max(1, perPage()))))
  const page = computed(() => Math.min(chosen.value, count.value - 1))
  /** Incremented to restart the time of a page. */
  const turns = ref(0)

  function turn(steps: number): void {
    chosen.value = (page.value + steps + count.value) % count.value
    turns.value += 1
  }

  const timer = useTimeoutFn(
    () => turn(1),
    () => seconds() * 1_000,
    { immediate: false },
  )
  watch(
    () => [seconds(), held(), stopped.value, count.value > 1, turns.value] as const,
    ([every, isHeld, isStopped, several]) => {
      timer.stop()
      if (every > 0 && several && !isHeld && !isStopped) timer.start()
    },
    { immediate: true },
  )
  return { page, count, stopped, turn }
}
