import { onBeforeUnmount, onMounted } from 'vue'

/** Duration of a dialog's closing animation, in milliseconds. */
const leaving = 350
/** Events that show that no mouse button is held any more, wherever it was released. */
const ends = ['mouseup', 'dragend', 'keydown'] as const

/** Element of each dialog that had the focus last. */
const lastIn = new WeakMap<Element, HTMLElement>()

/** Finds the open dialog in front; one that is closing does not count. */
function frontDialog(): Element | undefined {
  const dialogs = document.querySelectorAll('.el-overlay:not([class*="leave"]) .el-dialog')
  return [...dialogs].filter((dialog) => dialog.checkVisibility()).at(-1)
}

/** Focuses what had the focus last in the dialog in front. Returns whether there is a dialog. */
function returnFocus(): boolean {
  const front = frontDialog()
  if (front === undefined) return false
  lastIn.get(front)?.focus({ preventScroll: true })
  return true
}

/** Returns the focus to the dialog in front, once the one over it has closed: a click beside a dialog takes the focus from both. */
export function returnFocusLater(): void {
  setTimeout(() => document.activeElement === document.body && returnFocus(), leaving)
}

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
    if (dialog !== target) lastIn.set(dialog, target)
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
      if (document.activeElement !== document.body || returnFocus()) return
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
