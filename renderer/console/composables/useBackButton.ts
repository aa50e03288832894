import { nextTick, onBeforeUnmount, onMounted } from 'vue'
import { isDialogInFront } from '../../kit/composables/dialogInFront.ts'
import { usePhone } from '../../kit/composables/usePhone.ts'

/** Class that the library gives the body while a dialog or drawer is open. */
const locked = 'el-popup-parent--hidden'
/** Field of the history state that marks the step of an open sheet. */
const mark = 'sheet'

/** Time in which a dialog that refuses to close has shown its question, in milliseconds. */
const answerMs = 100

/** Time in which the next sheet follows one that closes, and shares its step, in milliseconds. */
const nextSheetMs = 200

const isMarked = (): boolean => {
  const state: unknown = history.state
  return typeof state === 'object' && state !== null && mark in state
}

/** Tells whether a sheet without an address of its own covers the page. */
const isCovered = (): boolean => isDialogInFront() || 'sheet' in document.body.dataset

/** Closes the uppermost sheet by Esc, which its own rules may refuse. */
function closeFront(): void {
  const target = document.activeElement ?? document.body
  target.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', code: 'Escape', bubbles: true, cancelable: true }))
}

/**
 * On a phone the back button closes the sheet in front, as everywhere on a phone, instead of leaving the page under it. Open sheets
 * share one step of the history, which goes with the last of them. Called once, by the shell.
 */
export function useBackButton(): void {
  const phone = usePhone()

  /** A step back was requested and has not happened yet. */
  let returning = false
  let timer: ReturnType<typeof setTimeout> | undefined

  function takeStep(): void {
    if (!isMarked()) history.pushState({ ...history.state, [mark]: true }, '')
  }

  function giveStepBack(): void {
    if (returning || !isMarked()) return
    returning = true
    history.back()
  }

  function uncover(): void {
    if (isCovered()) return
    // The library forgets its lock when a dialog is opened again while it closes.
    document.body.classList.remove(locked)
    giveStepBack()
  }

  function follow(): void {
    clearTimeout(timer)
    if (!isCovered()) timer = setTimeout(uncover, nextSheetMs)
    else if (phone.value) takeStep()
  }

  /** Follows the focus, which each opening and closing sheet moves. The page shows by then what the sheet changed. */
  function followFocus(): void {
    void nextTick(follow)
  }

  function back(): void {
    const own = returning
    returning = false
    if (isMarked()) {
      // The operator opened another page before the step back happened: it stays. Else the sheet of this step has gone already.
      if (own) history.forward()
      else uncover()
      return
    }
    if (!isCovered()) return
    closeFront()
    // A question about unsaved changes, or a dialog under this one, takes the step again.
    setTimeout(() => {
      if (isDialogInFront()) takeStep()
    }, answerMs)
  }

  const observer = new MutationObserver(follow)
  onMounted(() => {
    observer.observe(document.body, { attributes: true, attributeFilter: ['class', 'data-sheet'] })
    document.addEventListener('focusin', followFocus)
    document.addEventListener('focusout', followFocus)
    window.addEventListener('popstate', back)
  })
  onBeforeUnmount(() => {
    clearTimeout(timer)
    observer.disconnect()
    document.removeEventListener('focusin', followFocus)
    document.removeEventListener('focusout', followFocus)
    window.removeEventListener('popstate', back)
  })
}
