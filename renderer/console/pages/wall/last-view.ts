/** Storage key of the view that this browser opened last. */
const stored = 'roomdesk.wall'

/** Returns the id of the last view; empty: none was open; undefined: this browser has never opened the wall. */
export function lastView(): string | undefined {
  try {
    return localStorage.getItem(stored) ?? undefined
  } catch {
    return undefined
  }
}

/** Stores the id of the open view; empty: none is open. */
export function rememberView(id: string): void {
  try {
    localStorage.setItem(stored, id)
  } catch {
    // Storage may be disabled: then the first view opens.
  }
}
