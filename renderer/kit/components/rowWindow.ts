/**
 * Finds the rows of a long list that are in view. Browsers limit the height of an element to some tens of millions of
 * pixels, so scrolling is scaled beyond `tallest`.
 */

/** Maximum height of scrolled content, in pixels: every browser supports it. */
const tallest = 8_000_000

/** A list in its scroller. Pixels, except counts. */
export interface Viewport {
  total: number
  rowHeight: number
  /** Height of the visible part of the scroller. */
  height: number
  scrollTop: number
}

/** Rows from `first` to before `end` are rendered; row `first` is at `top` in content of height `content`. */
export interface RowWindow {
  first: number
  end: number
  top: number
  content: number
}

/** Rows rendered above and below the view, so that scrolling shows no gaps. */
const spare = 6

export function rowWindow(view: Viewport): RowWindow {
  const whole = view.total * view.rowHeight
  const content = Math.min(whole, tallest)
  const virtualTop = view.scrollTop * scale(view)
  const inView = Math.max(1, Math.ceil(view.height / view.rowHeight))
  const at = Math.min(Math.floor(virtualTop / view.rowHeight), Math.max(0, view.total - inView))
  const first = Math.max(0, at - spare)
  const end = Math.min(view.total, at + inView + 1 + spare)
  // Maps virtual pixels to real ones.
  return { first, end, top: view.scrollTop - virtualTop + first * view.rowHeight, content }
}

/** Finds a scroll position that shows a row; the current one if it is visible. */
export function scrollToRow(view: Viewport, index: number): number {
  const factor = scale(view)
  const virtualTop = view.scrollTop * factor
  const top = index * view.rowHeight
  if (top < virtualTop) return top / factor
  const bottom = top + view.rowHeight - view.height
  return bottom > virtualTop ? bottom / factor : view.scrollTop
}

/** Virtual pixels per scrolled pixel; 1 unless the list exceeds the maximum height. */
function scale(view: Viewport): number {
  const whole = view.total * view.rowHeight
  const content = Math.min(whole, tallest)
  return whole <= tallest || content <= view.height ? 1 : (whole - view.height) / (content - view.height)
}
