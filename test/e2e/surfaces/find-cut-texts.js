// Finds texts that are cut off. The walk puts this function into the page, and calls it.

/**
 * Texts of a surface that reach beyond it or the window, where nothing scrolls and no ellipsis tells so.
 * @param {string} selector of the surface
 */
function cutTexts(selector) {
  const found = new Set()
  for (const surface of document.querySelectorAll(selector)) {
    if (!surface.checkVisibility({ visibilityProperty: true })) continue
    const edge = Math.min(surface.getBoundingClientRect().right, innerWidth) + 1
    const walker = document.createTreeWalker(surface, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const element = node.parentElement
      if (node.data.trim() === '' || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
        continue
      const range = document.createRange()
      range.selectNodeContents(node)
      const box = range.getBoundingClientRect()
      if (box.width > 2 && box.right > edge && !isTold(element, surface)) found.add(node.data.trim().slice(0, 60))
    }
  }
  return [...found]
}

/** Something between the text and its surface is meant to scroll sideways, ends with an ellipsis, or is for screen readers only. */
function isTold(element, surface) {
  for (let each = element; each !== null && each !== surface.parentElement; each = each.parentElement) {
    const { overflowX, overflowY, textOverflow, position, clipPath } = getComputedStyle(each)
    if (textOverflow === 'ellipsis') return true
    // What scrolls downwards is not meant to scroll sideways, though it can.
    const isWide = (overflowX === 'auto' || overflowX === 'scroll') && overflowY === 'hidden'
    if (isWide || each.matches('pre, table, [role="grid"], [role="table"]')) return true
    if (position === 'absolute' && (clipPath !== 'none' || each.offsetWidth <= 1)) return true
  }
  return false
}

globalThis.surfaces = { cutTexts }
