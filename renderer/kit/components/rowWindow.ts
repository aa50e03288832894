/** Which rows of a long list are in view. A browser cannot lay out a taller element than some tens of millions of pixels, so past `tallest` scrolling is scaled. */

/** Pixels of the tallest scrolled content: below what every browser can lay out. */
const tallest = 8_000_000

/** A list in its scroller. All in pixels but the counts. */
export interface Viewport {
  total: number
  rowHeight: number
  /** Height of the part of the scroller in which rows show. */
  height: number
  scrollTop: number
}

/** Rows `first` to before `end` are drawn; row `first` stands at `top` in content that is `content` tall. */
export interface RowWindow {
  first: number
  end: number
  top: number
  content: number
}

/** Rows drawn above and below what is in view, so that scrolling does not show holes. */
const spare = 6

export function rowWindow(view: Viewport): RowWindow {
  const whole = view.total * view.rowHeight
  const content = Math.min(whole, tallest)
  const virtualTop = view.scrollTop * scale(view)
  const inView = Math.max(1, Math.ceil(view.height / view.rowHeight))
  const at = Math.min(Math.floor(virtualTop / view.rowHeight), Math.max(0, view.total - inView))
  const first = Math.max(0, at - spare)
  const end = Math.min(view.total, at + inView + 1 + spare)
  // Maps virtual pixels scrolled past to real ones.
  return { first, end, top: view.scrollTop - virtualTop + first * view.rowHeight, content }
}

/** The scroll position at which a row is in view, or the present one when it is already. */
export function scrollToRow(view: Viewport, index: number): number {
  const factor = scale(view)
  const virtualTop = view.scrollTop * factor
  const top = index * view.rowHeight
  if (top < virtualTop) return top / factor
  const bottom = top + view.rowHeight - view.height
  return bottom > virtualTop ? bottom / factor : view.scrollTop
}

/** Virtual pixels per pixel scrolled; 1 unless the list is too tall to be laid out. */
function scale(view: Viewport): number {
  const whole = view.total * view.rowHeight
  const content = Math.min(whole, tallest)
  return whole <= tallest || content <= view.height ? 1 : (whole - view.height) / (content - view.height)
}
