/** The view that this browser opened last, so that the wall opens with it. */
const stored = 'roomdesk.wall'

/** Id of the last view; empty: none was open; undefined: this browser has not opened the wall yet. */
export function lastView(): string | undefined {
  try {
    return localStorage.getItem(stored) ?? undefined
  } catch {
    return undefined
  }
}

/** Stores the id of the open view; empty for none. */
export function rememberView(id: string): void {
  try {
    localStorage.setItem(stored, id)
  } catch {
    // Storage may be disabled; then the first view opens.
  }
}
