import { pageHalfHeader } from '../../../shared/console/session-halves.ts'
import { browserStorage } from '../storage.ts'

/**
 * Key of the page's half of the session secret. This storage belongs to one origin, port included, and is shared by its
 * tabs and wall windows.
 */
export const pageHalfKey = 'roomdesk.session'

/** Used if the browser blocks the storage: the session then lasts as long as this page. */
let inMemory = ''

/** Returns the page's half of the session secret; empty: none. */
export function pageHalf(): string {
  return browserStorage.get(pageHalfKey) ?? inMemory
}

/** Keeps the page's half that a sign-in returned; empty: removes it. */
export function keepPageHalf(half: string): void {
  inMemory = half
  // If the storage is blocked, the half stays in memory.
  browserStorage.set(pageHalfKey, half || undefined)
}

/** Requests a path of the console's own port with both halves of the session secret. The desktop app needs neither. */
export function fetchOwn(path: string, options: RequestInit = {}): Promise<Response> {
  const headers = new Headers(options.headers)
  const half = pageHalf()
  if (half !== '') headers.set(pageHalfHeader, half)
  return fetch(path, { credentials: 'same-origin', ...options, headers })
}
