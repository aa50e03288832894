import { computed, shallowRef } from 'vue'

/** Rows selected for an action on several, by key. */
export function useSelection(keyAt: (index: number) => string | undefined) {
  const selected = shallowRef<ReadonlySet<string>>(new Set())
  let last = -1

  /** Selects or deselects a row; with `range`, every row since the last one. */
  function toggle(key: string, index: number, range: boolean): void {
    const next = new Set(selected.value)
    if (range && last >= 0) {
      for (let at = Math.min(last, index); at <= Math.max(last, index); at++) {
        const one = keyAt(at)
        if (one !== undefined) next.add(one)
      }
    } else if (!next.delete(key)) next.add(key)
    last = index
    selected.value = next
  }

  function set(keys: Iterable<string>): void {
    selected.value = new Set(keys)
  }

  return {
    selected,
    count: computed(() => selected.value.size),
    keys: computed(() => [...selected.value]),
    toggle,
    set,
    clear: () => set([]),
  }
}
