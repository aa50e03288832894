import { onBeforeUnmount, onMounted } from 'vue'

/** Milliseconds that a dialog takes to go. */
const leaving = 350
/** Events which say that no button of the mouse is held any more, wherever it was let go. */
const ends = ['mouseup', 'dragend', 'keydown'] as const

/**
 * A dialog that opens gives the focus to its field marked `autofocus`, else to its first field; when it has gone, the focus is where it was before. The library focuses the dialog itself,
 * where typing leads nowhere, and leaves it nowhere after a click on a button. Called once, by the shell, for every dialog.
 */
export function useDialogFocus(): void {
  /** A press of the mouse on an empty place of a dialog focuses it too: then the focus stays. It does so before the button is let go, and a dialog that a click opens comes after that. */
  let pressed = false
  /** Element that had the focus before a dialog came. */
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
      // A menu gives the focus back to its button when it has gone: by then the dialog that its item opened may be there.
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
