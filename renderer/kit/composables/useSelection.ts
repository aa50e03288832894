import { computed, shallowRef } from 'vue'

/** A list of which rows can be selected. */
interface SelectableRows<T> {
  rowAt(index: number): T | undefined
  /** Resolves to the rows from one index to another; default: those of `rowAt`. */
  rowsBetween?(first: number, last: number): Promise<T[]>
}

/**
 * Rows selected for an action on several, as they were when they were selected: a long list does not keep the rows that
 * are out of view.
 */
export function useSelection<T>(keyOf: (row: T) => string, rows: SelectableRows<T>) {
  const byKey = shallowRef<ReadonlyMap<string, T>>(new Map())
  let last = -1

  /**
   * Selects or deselects a row; with `range`, every row since the last one.
   * @throws CallError if rows of the range cannot be read
   */
  async function toggle(row: T, index: number, range: boolean): Promise<void> {
    const from = range ? last : -1
    last = index
    if (from >= 0) return add(await between(Math.min(from, index), Math.max(from, index)))
    const next = new Map(byKey.value)
    if (!next.delete(keyOf(row))) next.set(keyOf(row), row)
    byKey.value = next
  }

  async function between(first: number, end: number): Promise<readonly T[]> {
    if (rows.rowsBetween) return rows.rowsBetween(first, end)
    return Array.from({ length: end - first + 1 }, (_, step) => rows.rowAt(first + step)).filter(
      (row) => row !== undefined,
    )
  }

  function add(more: readonly T[]): void {
    byKey.value = new Map([...byKey.value, ...more.map((row) => [keyOf(row), row] as const)])
  }

  function clear(): void {
    byKey.value = new Map()
    last = -1
  }

  return {
    selected: computed<ReadonlySet<string>>(() => new Set(byKey.value.keys())),
    count: computed(() => byKey.value.size),
    keys: computed(() => [...byKey.value.keys()]),
    /** The selected rows. */
    rows: computed(() => [...byKey.value.values()]),
    toggle,
    add,
    clear,
  }
}
