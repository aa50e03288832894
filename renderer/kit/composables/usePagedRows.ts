import { computed, ref, type Ref, shallowRef } from 'vue'

/** One page of a list in the controller. */
export interface Page<T> {
  total: number
  items: T[]
}

/** A long list of which only the pages around the view are loaded. */
export interface PagedRows<T> {
  total: Readonly<Ref<number>>
  /** Increases with every change of the rows. */
  version: Readonly<Ref<number>>
  error: Readonly<Ref<unknown>>
  /** The first page is loaded. */
  ready: Readonly<Ref<boolean>>
  rowAt(index: number): T | undefined
  /** Returns the loaded rows. */
  loaded(): T[]
  /** Resolves to the rows from one index to another, and reads those that are not loaded. Rejects if it cannot. */
  rowsBetween(first: number, last: number): Promise<T[]>
  /** Sets the rows in view, and loads missing ones. */
  show(first: number, end: number): void
  /** Reloads the rows in view, which stay on the screen meanwhile. */
  refresh(): Promise<void>
  /** Discards all rows (another search or order) and loads from the start. */
  restart(): Promise<void>
}

/** Returns the rows of the list that is shown: the first or the second. */
export function shownRows<T>(
  isSecond: Readonly<Ref<boolean>>,
  first: PagedRows<T>,
  second: PagedRows<T>,
): PagedRows<T> {
  const shown = (): PagedRows<T> => (isSecond.value ? second : first)
  return {
    total: computed(() => shown().total.value),
    version: computed(() => shown().version.value),
    error: computed(() => shown().error.value),
    ready: computed(() => shown().ready.value),
    rowAt: (index) => shown().rowAt(index),
    loaded: () => shown().loaded(),
    rowsBetween: (from, to) => shown().rowsBetween(from, to),
    show: (from, end) => shown().show(from, end),
    refresh: () => shown().refresh(),
    restart: () => shown().restart(),
  }
}

/** Number of pages kept around the view. */
const kept = 12

/** Time after which the rows of another search or order are no longer shown, in milliseconds. */
const staleMs = 300

export function usePagedRows<T>(read: (offset: number, limit: number) => Promise<Page<T>>, size = 100): PagedRows<T> {
  const total = ref(0)
  const version = ref(0)
  const ready = ref(false)
  const error = shallowRef<unknown>(null)
  let pages = new Map<number, T[]>()
  const asked = new Set<number>()
  let visible = { first: 0, end: 1 }
  let generation = 0

  /** @param margin number of rows around the view to include */
  const pagesInView = (margin = 0): number[] => {
    const from = Math.floor(Math.max(0, visible.first - margin) / size)
    const to = Math.floor((Math.max(visible.first, visible.end - 1) + margin) / size)
    return Array.from({ length: to - from + 1 }, (_, step) => from + step)
  }

  /** Discards the pages that are furthest from the view. */
  function trim(): void {
    const centre = Math.floor(visible.first / size)
    const far = [...pages.keys()].sort((a, b) => Math.abs(b - centre) - Math.abs(a - centre))
    for (const page of far.slice(0, Math.max(0, pages.size - kept))) pages.delete(page)
  }

  async function fetchPage(page: number): Promise<void> {
    if (asked.has(page)) return
    asked.add(page)
    const mine = generation
    try {
      const answer = await read(page * size, size)
      if (mine !== generation) return
      pages.set(page, answer.items)
      total.value = answer.total
      error.value = null
      trim()
      version.value++
    } catch (reason) {
      if (mine === generation) error.value = reason
    } finally {
      if (mine === generation) asked.delete(page)
    }
  }

  /** Loads pages into a new map that replaces the old one at once, so that no gap is visible. */
  async function reread(wanted: number[]): Promise<void> {
    const mine = ++generation
    asked.clear()
    try {
      const answers = await Promise.all(wanted.map(async (page) => [page, await read(page * size, size)] as const))
      if (mine !== generation) return
      pages = new Map(answers.map(([page, answer]) => [page, answer.items]))
      total.value = answers.at(-1)?.[1].total ?? 0
      error.value = null
      ready.value = true
      version.value++
    } catch (reason) {
      if (mine === generation) error.value = reason
    }
    // The user may have scrolled meanwhile.
    if (mine === generation) show(visible.first, visible.end)
  }

  function discard(): void {
    pages = new Map()
    total.value = 0
    ready.value = false
    version.value++
  }

  async function rowsBetween(first: number, last: number): Promise<T[]> {
    const found: T[] = []
    for (let page = Math.floor(first / size); page * size <= last; page++) {
      const items = pages.get(page) ?? (await read(page * size, size)).items
      found.push(...items.slice(Math.max(0, first - page * size), last - page * size + 1))
      if (items.length < size) break
    }
    return found
  }

  function show(first: number, end: number): void {
    visible = { first, end: Math.max(end, first + 1) }
    if (!ready.value || error.value) return
    // Loads pages before they come into view, so that few rows are rendered at a time.
    for (const page of pagesInView(size / 4)) {
      if (!pages.has(page) && page * size < total.value) void fetchPage(page)
    }
  }

  return {
    total,
    version,
    error,
    ready,
    rowAt: (index) => pages.get(Math.floor(index / size))?.[index % size],
    loaded: () => [...pages.values()].flat(),
    rowsBetween,
    show,
    refresh: () => reread(pagesInView()),
    async restart() {
      visible = { first: 0, end: Math.max(1, visible.end - visible.first) }
      const stale = setTimeout(discard, staleMs)
      await reread([0])
      clearTimeout(stale)
      if (error.value) discard()
    },
  }
}
