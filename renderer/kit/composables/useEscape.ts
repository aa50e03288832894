import { onBeforeUnmount, onMounted } from 'vue'

/** Elements above the page that close by Esc themselves: open lists and menus, and dialogs. */
const above = '.el-popper :is([role="menu"], [role="listbox"]), .el-overlay [role="dialog"][aria-modal="true"]'

/** Presses of Esc that began while something lay above the page. */
const taken = new WeakSet<Event>()

/** Whether a press of Esc is for something above the page: by the time the page hears of it that may have gone. */
export const isForSomethingAbove = (event: Event): boolean => taken.has(event)

/**
 * Esc closes what lies uppermost and nothing else: a list or menu, then the dialog, then the panel. The library's choice fields keep every Esc to themselves, with their list open or not;
 * one whose list is closed passes it on to what it stands in. Called once, by the shell.
 */
export function useEscape(): void {
  onMounted(() => window.addEventListener('keydown', press, true))
  onBeforeUnmount(() => window.removeEventListener('keydown', press, true))
}

function press(event: KeyboardEvent): void {
  if (event.key !== 'Escape') return
  if ([...document.querySelectorAll(above)].some((one) => one.checkVisibility())) taken.add(event)
  const choice = event.target instanceof Element ? event.target.closest('.el-select') : null
  const around = choice?.parentElement
  if (!around || choice?.querySelector('[aria-expanded="true"]')) return
  event.stopImmediatePropagation()
  event.preventDefault()
  around.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', code: 'Escape', bubbles: true, cancelable: true }))
}
