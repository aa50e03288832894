import { computed, type ComputedRef, onScopeDispose, ref, type Ref, watch } from 'vue'

/** Pages of a wall. */
export interface Pages {
  /** Index of the current page. */
  page: Readonly<Ref<number>>
  count: ComputedRef<number>
  /** The operator stopped the rotation. */
  stopped: Ref<boolean>
  /** Shows a page so many steps further, around the end; its time begins anew. */
  turn: (steps: number) => void
}

/** Needs of the pages of a wall. */
interface PageSources {
  tiles: () => number
  perPage: () => number
  /** Seconds of a page; 0: no rotation. */
  seconds: () => number
  /** Something else holds the current page. */
  held: () => boolean
}

/** Pages of a wall, which follow each other after some time. */
export function usePages({ tiles, perPage, seconds, held }: PageSources): Pages {
  const chosen = ref(0)
  const stopped = ref(false)
  const count = computed(() => Math.max(1, Math.ceil(tiles() / Math.max(1, perPage()))))
  const page = computed(() => Math.min(chosen.value, count.value - 1))
  /** Raised to begin the time of a page anew. */
  const turns = ref(0)

  function turn(steps: number): void {
    chosen.value = (page.value + steps + count.value) % count.value
    turns.value += 1
  }

  let timer: ReturnType<typeof setTimeout> | undefined
  watch(
    () => [seconds(), held(), stopped.value, count.value > 1, turns.value] as const,
    ([every, isHeld, isStopped, several]) => {
      clearTimeout(timer)
      if (every > 0 && several && !isHeld && !isStopped) timer = setTimeout(() => turn(1), every * 1_000)
    },
    { immediate: true },
  )
  onScopeDispose(() => clearTimeout(timer))
  return { page, count, stopped, turn }
}
