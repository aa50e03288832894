import { onBeforeUnmount, onMounted } from 'vue'

/** Runs the action of a key, unless the user types, or holds a modifier. Keys are in lower case. */
export function useShortcuts(keys: Readonly<Record<string, () => void>>): void {
  function press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.defaultPrevented) return
    const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key]
    if (act === undefined) return
    // Esc also works while typing.
    if (event.key !== 'Escape' && isWriting(event.target)) return
    event.preventDefault()
    act()
  }

  onMounted(() => window.addEventListener('keydown', press))
  onBeforeUnmount(() => window.removeEventListener('keydown', press))
}

function isWriting(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable="true"]')
}
