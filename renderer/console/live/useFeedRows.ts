import { computed, type Ref } from 'vue'
import type { useHold } from './useHold.ts'

/** Entries before the end of the list at which older ones are loaded. */
const ahead = 100

/**
 * Returns what the DataTable of a feed takes, newest first: it holds the feed while the operator reads, and loads older
 * entries near the end.
 */
export function useFeedRows<T extends { seq: number }>(
  feed: { items: Readonly<Ref<readonly T[]>>; older: () => Promise<void> },
  hold: ReturnType<typeof useHold<T>>,
) {
  return computed(() => ({
    rows: feed.items.value,
    keyOf: (entry: T) => String(entry.seq),
    current: hold.opened.value ? String(hold.opened.value.seq) : '',
    onOpen: hold.open,
    onAway: hold.scroll,
    onRange: (_first: number, end: number) => {
      if (end > feed.items.value.length - ahead) void feed.older()
    },
  }))
}
