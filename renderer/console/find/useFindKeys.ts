import { useEventListener } from '@vueuse/core'
import { ref } from 'vue'
import { pressedShortcut } from '../../kit/composables/useShortcuts.ts'
import { isDialogOpen } from '../../kit/layers/layers.ts'
import { addLaterTexts } from '../i18n/index.ts'
import { shortcuts } from '../shortcuts.ts'

/**
 * Opens the search by Ctrl+K. Keys typed before its field has the focus are added to the search, and are not shortcuts.
 */
export function useFindKeys() {
  const open = ref(false)
  /** The palette's code is loaded when it is first opened. */
  const loaded = ref(false)
  const text = ref('')
  /** The field has the focus and receives the keys. */
  let ready = false

  function openFind(): void {
    text.value = ''
    ready = false
    loaded.value = true
    open.value = true
    // The names of settings are loaded later.
    addLaterTexts().catch((error: unknown) => console.error(error))
  }

  function keepEarly({ key }: KeyboardEvent): boolean {
    if (key === 'Escape') open.value = false
    else if (key === 'Backspace') text.value = text.value.slice(0, -1)
    else if (key.length === 1) text.value += key
    else return false
    return true
  }

  function press(event: KeyboardEvent): void {
    if (event.altKey || event.isComposing) return
    if (pressedShortcut(shortcuts.page, event) === 'find') {
      if (event.shiftKey) return
      event.preventDefault()
      if (open.value) open.value = false
      else if (!isDialogOpen()) openFind()
    } else if (!event.ctrlKey && !event.metaKey && open.value && !ready && keepEarly(event)) {
      event.preventDefault()
      event.stopPropagation()
    }
  }
  useEventListener('keydown', press, true)

  return {
    open,
    loaded,
    text,
    openFind,
    /** Call this when the field has the focus. */
    onReady: () => {
      ready = true
    },
  }
}
