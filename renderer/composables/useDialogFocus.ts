import { onBeforeUnmount, onMounted } from 'vue'

/** Milliseconds that a dialog takes to go. */
const leaving = 350

/**
 * A dialog that opens gives the focus to its field marked `autofocus`, else to its first field; when it has gone, the focus is where it was before. The library focuses the dialog itself,
 * where typing leads nowhere, and leaves it nowhere after a click on a button. Called once, by the shell, for every dialog.
 */
export function useDialogFocus(): void {
  /** A click on an empty place of a dialog focuses it too: then the focus stays. */
  let pressed = false
  /** What had the focus before a dialog came. */
  let before: HTMLElement | null = null

  function press(): void {
    pressed = true
    setTimeout(() => {
      pressed = false
    })
  }

  function follow(event: FocusEvent): void {
    const target = event.target
    if (!(target instanceof HTMLElement)) return
    const dialog = target.closest<HTMLElement>('.el-dialog')
    if (dialog === null) before = target
    if (pressed || dialog !== target) return
    if (event.relatedTarget instanceof Node && dialog.contains(event.relatedTarget)) return
    const field =
      dialog.querySelector<HTMLElement>('[autofocus]') ??
      dialog.querySelector<HTMLElement>('.el-dialog__body :is(input, textarea):not([type="hidden"], [disabled])')
    field?.focus()
  }

  function leave(event: FocusEvent): void {
    const target = event.target
    if (event.relatedTarget !== null || !(target instanceof Element) || target.closest('.el-dialog') === null) return
    setTimeout(() => {
      const front = [...document.querySelectorAll('.el-dialog')].some((dialog) => dialog.checkVisibility())
      if (front || document.activeElement !== document.body) return
      const place = before?.isConnected ? before : document.querySelector<HTMLElement>('[data-page-title]')
      place?.focus({ preventScroll: true })
    }, leaving)
  }

  onMounted(() => {
    window.addEventListener('pointerdown', press, true)
    window.addEventListener('focusin', follow)
    window.addEventListener('focusout', leave)
  })
  onBeforeUnmount(() => {
    window.removeEventListener('pointerdown', press, true)
    window.removeEventListener('focusin', follow)
    window.removeEventListener('focusout', leave)
  })
}
