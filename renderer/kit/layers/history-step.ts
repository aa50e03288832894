import { usePhone } from '../composables/usePhone.ts'

/** Layers that the back button closes. */
interface CoveringLayers {
  count(): number
  closeFront(): void
}

/** Field of the history state that marks the step of open layers. */
const mark = 'sheet'

/** Time after which a layer that refuses to close has shown its question, in milliseconds. */
const answerMs = 100

/** Maximum time between a closed layer and the next one for both to share a step, in milliseconds. */
export const nextLayerMs = 200

const phone = usePhone()
let layers: CoveringLayers | undefined
/** A step back was requested and has not happened yet. */
let returning = false
/** The current entry of the history is a step of layers. */
let marked = false
/** The user has gone to another page, which a guard may still refuse with a question. */
let deciding = false
/** What to do once that is decided. */
let afterwards: (() => void) | undefined
let timer: ReturnType<typeof setTimeout> | undefined

const isMarked = (): boolean => {
  const state: unknown = history.state
  return typeof state === 'object' && state !== null && mark in state
}
const isCovered = (): boolean => layers !== undefined && layers.count() > 0

function takeStep(): void {
  if (!isMarked()) history.pushState({ ...history.state, [mark]: true }, '')
  marked = true
}

function giveStepBack(): void {
  if (returning || isCovered() || !isMarked()) return
  returning = true
  history.back()
}

function back(): void {
  const wasMarked = marked
  marked = isMarked()
  if (deciding) afterwards = () => react(wasMarked)
  else react(wasMarked)
}

/** Handles a step in the history. @param left whether it has left the step of the layers */
function react(left: boolean): void {
  const own = returning
  returning = false
  if (isMarked()) {
    // If another page was opened before the requested step back, that page stays. Otherwise the layer of this step is
    // already closed.
    if (own) history.forward()
    else giveStepBack()
    return
  }
  if (!isCovered() || !left) return
  if (!own) layers?.closeFront()
  // If a layer is still open (a question about unsaved changes, or a lower layer), the step is added again.
  setTimeout(() => {
    if (isCovered()) takeStep()
  }, answerMs)
}

/**
 * On a phone, the back button closes the layer in front instead of leaving the page. Open layers share one step of the
 * history, which is removed with the last layer.
 */
export function openStepFor(covering: CoveringLayers): void {
  if (layers === undefined) window.addEventListener('popstate', back)
  layers = covering
  clearTimeout(timer)
  if (phone.value && !returning && !deciding) takeStep()
}

/**
 * Call it when the user goes to another page by the history: a step that was added before the page is decided on, for
 * the question of a guard, would remove the entries to which the router returns.
 * @returns function to call once the page is decided on
 */
export function decideOnPage(): () => void {
  // A step back that was requested here is no decision of the user.
  deciding = !returning
  return () => {
    deciding = false
    const run = afterwards
    afterwards = undefined
    run?.()
  }
}

/** Removes the step of the history unless another layer follows. */
export function closeStepWithLayers(): void {
  clearTimeout(timer)
  if (!isCovered()) timer = setTimeout(giveStepBack, nextLayerMs)
}
