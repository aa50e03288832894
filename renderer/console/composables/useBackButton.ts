import { onBeforeUnmount, onMounted } from 'vue'
import { useRouter } from 'vue-router'
import { isDialogInFront } from '../../kit/composables/dialogInFront.ts'
import { usePhone } from '../../kit/composables/usePhone.ts'

/** Class that the library gives the body while a dialog or drawer is open. */
const locked = 'el-popup-parent--hidden'
/** Field of the history state that marks the step of an open sheet. */
const mark = 'sheet'

/** Time after which no dialog is closing any more, in milliseconds. */
const closedMs = 400

/** Time in which a dialog that refuses to close has shown its question, in milliseconds. */
const answerMs = 100

const isMarked = (): boolean => {
  const state: unknown = history.state
  return typeof state === 'object' && state !== null && mark in state
}

/** Tells whether a sheet without an address of its own covers the page. */
const isCovered = (): boolean => document.body.classList.contains(locked) || 'sheet' in document.body.dataset

/** Frees the body of a lock that the library forgot: of a dialog that was opened again while it closed. */
function freeBody(): void {
  if (!isDialogInFront()) document.body.classList.remove(locked)
}

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
  const stopFollowing = useRouter().afterEach(() => void setTimeout(freeBody, closedMs))

  /** A step back was requested and has not happened yet. */
  let returning = false

  function takeStep(): void {
    if (!isMarked()) history.pushState({ ...history.state, [mark]: true }, '')
  }

  function giveStepBack(): void {
    if (returning || !isMarked()) return
    returning = true
    history.back()
  }

  function settle(): void {
    if (!isCovered()) giveStepBack()
    else if (phone.value) takeStep()
  }

  function back(): void {
    returning = false
    // A step whose sheet has gone already, because its dialog led to another page.
    if (isMarked()) return settle()
    if (!isCovered()) return
    closeFront()
    // A question about unsaved changes, or a dialog under this one, takes the step again.
    setTimeout(() => {
      if (isDialogInFront()) takeStep()
    }, answerMs)
  }

  const observer = new MutationObserver(settle)
  onMounted(() => {
    observer.observe(document.body, { attributes: true, attributeFilter: ['class', 'data-sheet'] })
    window.addEventListener('popstate', back)
  })
  onBeforeUnmount(() => {
    observer.disconnect()
    stopFollowing()
    window.removeEventListener('popstate', back)
  })
}
