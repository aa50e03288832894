import { shallowRef } from 'vue'

/** Address of the help that is shown beside the page; empty: none. */
export const shownHelp = shallowRef('')

/** Shows a page of the help beside the page and any dialog: what is typed there stays. */
export function showHelp(address: string): void {
  shownHelp.value = address
}
