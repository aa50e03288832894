import { shallowReactive } from 'vue'
import { closeStepWithLayers, openStepFor } from './history-step.ts'

/** A layer over the page: a dialog or a panel. Menus are popovers, which the browser closes. */
export interface Layer {
  readonly kind: 'dialog' | 'panel'
  /**
   * On a phone, the back button closes the layer. A panel with its own address needs no step of the history for that.
   */
  readonly hasBackStep: boolean
  /** Element of the layer. */
  element(): HTMLElement | null
  /** Closes the layer as Esc does. A form may ask first. */
  close(): void
}

/** Open layers; the last one is in front. */
const layers = shallowReactive<Layer[]>([])

/** Returns the dialog in front; everything outside of it is inert. */
export const frontDialog = (): HTMLElement | null => layers.findLast(({ kind }) => kind === 'dialog')?.element() ?? null

/** Closes the layer in front as Esc does. Returns whether there is one. */
export function closeFrontLayer(): boolean {
  const front = layers.at(-1)
  front?.close()
  return front !== undefined
}

/** Open dialogs and menus, which receive the keys. */
const keyTakers = 'dialog[open], :popover-open:not([popover="manual"])'
/** Elements that handle keys themselves. A checkbox handles only the space bar. */
const fields = 'input:not([type="checkbox"]), textarea, select, [contenteditable]:not([contenteditable="false"])'

/** Returns whether a dialog or menu is open. */
export const isDialogOpen = (): boolean => document.querySelector(keyTakers) !== null

/** Returns whether the user is typing, or a dialog or menu is open: shortcuts are disabled then. */
export const typingOrDialogOpen = ({ target }: Event): boolean =>
  (target instanceof Element && target.closest(fields) !== null) || isDialogOpen()

const countBackSteps = (): number => layers.filter(({ hasBackStep }) => hasBackStep).length

/** The browser closes an open list of a select field on Esc. */
const hasOpenList = (target: EventTarget | null): boolean =>
  target instanceof Element && CSS.supports('selector(:open)') && target.closest('select:open') !== null

function press(event: KeyboardEvent): void {
  if (event.key !== 'Escape' || event.defaultPrevented || event.isComposing || hasOpenList(event.target)) return
  // Also keeps the browser from closing a dialog that asks first.
  event.preventDefault()
  closeFrontLayer()
}

/** Adds a layer in front. Returns the function that removes it. */
export function addLayer(layer: Layer): () => void {
  if (layers.length === 0) window.addEventListener('keydown', press)
  layers.push(layer)
  if (layer.hasBackStep) openStepFor({ count: countBackSteps, closeFront: closeFrontLayer })
  return () => {
    const index = layers.indexOf(layer)
    if (index < 0) return
    layers.splice(index, 1)
    if (layers.length === 0) window.removeEventListener('keydown', press)
    if (layer.hasBackStep) closeStepWithLayers()
  }
}
