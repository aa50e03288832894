import { onBeforeUnmount, onMounted } from 'vue'

/** Elements above the page that handle Esc themselves: open lists and menus, and dialogs. */
const above = '.el-popper :is([role="menu"], [role="listbox"]), .el-overlay [role="dialog"][aria-modal="true"]'

/** Events of Esc that started while such an element was open. */
const taken = new WeakSet<Event>()

/** Tells whether an Esc belongs to an element above the page, which may have closed by now. */
export const isForSomethingAbove = (event: Event): boolean => taken.has(event)

/**
 * Esc closes only the uppermost element: a list or menu, then the dialog, then the panel. The library's select fields always keep Esc to themselves;
 * a select with a closed list passes it on to its container. Called once, by the shell.
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
