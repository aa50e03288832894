import { ref } from 'vue'

const stored = 'roomdesk.version'

/** Version whose news were not opened in this browser yet; empty: none. */
export const unseenVersion = ref('')

/** Compares the running version with the last seen one. At the first visit nothing is new. */
export function noteVersion(version: string): void {
  try {
    const seen = localStorage.getItem(stored)
    if (seen === null) localStorage.setItem(stored, version)
    else unseenVersion.value = version.localeCompare(seen, 'en', { numeric: true }) > 0 ? version : ''
  } catch {
    // Storage may be disabled: then no news are announced.
  }
}

/** Stores that the news of the running version were opened. */
export function markVersionSeen(version: string): void {
  unseenVersion.value = ''
  try {
    localStorage.setItem(stored, version)
  } catch {
    // Storage is disabled: no news are announced.
  }
}
