import { ref } from 'vue'
import { browserStorage } from '../../kit/storage.ts'

const stored = 'roomdesk.version'

/** Version whose news were not opened in this browser yet; empty: none. */
export const unseenVersion = ref('')

/** Compares the running version with the last seen one. At the first visit nothing is new. */
export function noteVersion(version: string): void {
  // If storage is disabled, each visit is the first: no news are announced.
  const seen = browserStorage.get(stored)
  if (seen === undefined) browserStorage.set(stored, version)
  else unseenVersion.value = version.localeCompare(seen, 'en', { numeric: true }) > 0 ? version : ''
}

/** Stores that the news of the running version were opened. */
export function markVersionSeen(version: string): void {
  unseenVersion.value = ''
  browserStorage.set(stored, version)
}
