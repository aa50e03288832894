import { ref } from 'vue'

const stored = 'roomdesk.version'

/** Version whose news nobody has opened in this browser; empty: none. */
export const unseenVersion = ref('')

/** Compares the running version with the one that was seen last. At the first visit nothing is new. */
export function noteVersion(version: string): void {
  try {
    const seen = localStorage.getItem(stored)
    if (seen === null) localStorage.setItem(stored, version)
    else unseenVersion.value = version.localeCompare(seen, 'en', { numeric: true }) > 0 ? version : ''
  } catch {
    // Storage may be disabled: then nothing is announced.
  }
}

/** Remembers that the news of the running version were opened. */
export function markVersionSeen(version: string): void {
  unseenVersion.value = ''
  try {
    localStorage.setItem(stored, version)
  } catch {
    // Nothing was announced either.
  }
}
