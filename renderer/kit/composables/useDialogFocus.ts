import { onBeforeUnmount, onMounted } from 'vue'

/** Duration of a dialog's closing animation, in milliseconds. */
const leaving = 350
/** Events that show that no mouse button is held any more, wherever it was released. */
const ends = ['mouseup', 'dragend', 'keydown'] as const

/**
 * Focuses the field marked `autofocus` of an opening dialog, else its first field; restores the previous focus when it closes. The library focuses the dialog itself,
 * where typing has no effect, and loses the focus after a click on a button. Called once, by the shell, for every dialog.
 */
export function useDialogFocus(): void {
  /** Pressing the mouse on an empty part of a dialog focuses it too: that focus stays. It happens before the button is released, while a click opens a dialog afterwards. */
  let pressed = false
  /** Element with the focus before a dialog opened. */
  let before: HTMLElement | null = null

  function press(): void {
    pressed = true
  }

  function release(): void {
    pressed = false
  }

  function follow(event: FocusEvent): void {
    const target = event.target
    if (!(target instanceof HTMLElement)) return
    const dialog = target.closest<HTMLElement>('.el-dialog')
    if (dialog === null) {
      // A closing menu returns the focus to its button: by then the dialog of its item may be open.
      const left = event.relatedTarget instanceof HTMLElement ? event.relatedTarget : null
      before = target
      if (target.ariaHasPopup === 'menu' && left?.closest('.el-overlay:not([class*="leave"]) .el-dialog')) left.focus()
      return
    }
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
    window.addEventListener('mousedown', press, true)
    for (const end of ends) window.addEventListener(end, release, true)
    window.addEventListener('focusin', follow)
    window.addEventListener('focusout', leave)
  })
  onBeforeUnmount(() => {
    window.removeEventListener('mousedown', press, true)
    for (const end of ends) window.removeEventListener(end, release, true)
    window.removeEventListener('focusin', follow)
    window.removeEventListener('focusout', leave)
  })
}
