import { shallowRef } from 'vue'

/** Address of the help that is shown beside the page; empty: none. */
export const shownHelp = shallowRef('')

/** Shows a page of the help over the current page and any dialog, which keep their input. */
export function showHelp(address: string): void {
  shownHelp.value = address
}
