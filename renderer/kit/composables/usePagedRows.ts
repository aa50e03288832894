import { ref, shallowRef } from 'vue'
import type { Ref, ShallowRef } from 'vue'

/** One page of a list kept by the controller. */
export interface Page<T> {
  total: number
  items: T[]
}

/** A long list of which only the pages around what is in view are here. */
export interface PagedRows<T> {
  total: Ref<number>
  /** Rises whenever rows changed. */
  version: Ref<number>
  error: ShallowRef<unknown>
  /** The first page was read. */
  ready: Ref<boolean>
  rowAt(index: number): T | undefined
  /** The rows that are here. */
  loaded(): T[]
  /** Tells what is in view; fetches what of it is missing. */
  show(first: number, end: number): void
  /** Reads what is in view again, keeping it on the screen meanwhile. */
  refresh(): Promise<void>
  /** Forgets everything (another search or order) and reads from the start. */
  restart(): Promise<void>
}

/** Pages kept around what is in view. */
const kept = 12

export function usePagedRows<T>(read: (offset: number, limit: number) => Promise<Page<T>>, size = 100): PagedRows<T> {
  const total = ref(0)
  const version = ref(0)
  const ready = ref(false)
  const error = shallowRef<unknown>(null)
  let pages = new Map<number, T[]>()
  const asked = new Set<number>()
  let visible = { first: 0, end: 1 }
  let generation = 0

  const pagesInView = (): number[] => {
    const from = Math.floor(visible.first / size)
    const to = Math.floor(Math.max(visible.first, visible.end - 1) / size)
    return Array.from({ length: to - from + 1 }, (_, step) => from + step)
  }

  /** Forgets the pages that are furthest from what is in view. */
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

  /** Reads pages into a fresh map and puts it in place of the old one in one step, so that no hole is ever seen. */
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
    // The operator may have scrolled on meanwhile.
    if (mine === generation) show(visible.first, visible.end)
  }

  function show(first: number, end: number): void {
    visible = { first, end: Math.max(end, first + 1) }
    if (!ready.value || error.value) return
    for (const page of pagesInView()) {
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
    show,
    refresh: () => reread(pagesInView()),
    async restart() {
      visible = { first: 0, end: Math.max(1, visible.end - visible.first) }
      await reread([0])
    },
  }
}
