import { browserStorage } from '../../kit/storage.ts'

/** One result of the search, as it is shown and opened. */
export interface FindEntry {
  /** Unique among all results. */
  key: string
  title: string
  /** Secondary text, shown fainter. */
  detail: string
  /** Address to open; empty: the entry runs `act`. */
  to: string
  act?: () => void
}

const stored = 'roomdesk.finds'
const maxStored = 8

/** Returns the results that were opened last in this browser, the newest first. */
export function recentFinds(): FindEntry[] {
  const found = browserStorage.json(stored)
  return Array.isArray(found) ? found.filter(isEntry).slice(0, maxStored) : []
}

/** Stores an opened result. */
export function rememberFind({ key, title, detail, to }: FindEntry): void {
  if (to === '') return
  const others = recentFinds().filter((one) => one.key !== key)
  browserStorage.set(stored, JSON.stringify([{ key, title, detail, to }, ...others].slice(0, maxStored)))
}

/** Deletes all stored results, because another user may use this browser next. */
export function forgetFinds(): void {
  browserStorage.set(stored, undefined)
}

function isEntry(one: unknown): one is FindEntry {
  if (typeof one !== 'object' || one === null) return false
  const texts = ['key', 'title', 'detail', 'to'].map((name): unknown => Reflect.get(one, name))
  return texts.every((text) => typeof text === 'string') && String(texts[3]).startsWith('/')
}
