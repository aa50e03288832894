import { browserStorage } from '../../../kit/storage.ts'

/** Storage key of the view that this browser opened last. */
const stored = 'roomdesk.wall'

/** Returns the id of the last view; empty: none was open; undefined: this browser has never opened the wall. */
export function lastView(): string | undefined {
  return browserStorage.get(stored)
}

/** Stores the id of the open view; empty: none is open. */
export function rememberView(id: string): void {
  browserStorage.set(stored, id)
}
