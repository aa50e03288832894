import { onBeforeUnmount, onMounted } from 'vue'

/**
 * A dialog that opens gives the focus to its field marked `autofocus`, else to its first field. The library focuses the dialog itself, where typing leads nowhere. Called once, by the
 * shell, for every dialog.
 */
export function useDialogFocus(): void {
  /** A click on an empty place of a dialog focuses it too: then the focus stays. */
  let pressed = false

  function press(): void {
    pressed = true
    setTimeout(() => {
      pressed = false
    })
  }

  function follow(event: FocusEvent): void {
    const dialog = event.target
    if (pressed || !(dialog instanceof HTMLElement) || !dialog.classList.contains('el-dialog')) return
    if (event.relatedTarget instanceof Node && dialog.contains(event.relatedTarget)) return
    const field =
      dialog.querySelector<HTMLElement>('[autofocus]') ??
      dialog.querySelector<HTMLElement>('.el-dialog__body :is(input, textarea):not([type="hidden"], [disabled])')
    field?.focus()
  }

  onMounted(() => {
    window.addEventListener('pointerdown', press, true)
    window.addEventListener('focusin', follow)
  })
  onBeforeUnmount(() => {
    window.removeEventListener('pointerdown', press, true)
    window.removeEventListener('focusin', follow)
  })
}
