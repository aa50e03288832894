// Walks the controls of the console. The walk puts these functions into the page, and calls one of them.

/** Fills empty fields of the dialog in front, marks each enabled control, and returns their names. @param {string} around begins names outside of the page */
function markControls(around) {
  const visible = (element) => element.checkVisibility({ visibilityProperty: true })
  const closing = (element) => element.closest('[class*="leave-active"]') !== null
  const front = [...document.querySelectorAll('dialog[open], [role="menu"]:popover-open')]
    .filter((element) => visible(element) && !closing(element))
    .at(-1)
  const scope = front ?? document.body
  if (front !== undefined) {
    for (const field of front.querySelectorAll('input, textarea')) {
      if (!(field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement)) continue
      if (['checkbox', 'radio', 'file'].includes(field.type) || field.value !== '' || field.disabled || field.readOnly)
        continue
      field.value = field.inputMode === 'numeric' || field.type === 'number' ? '3' : 'Something long enough'
      field.dispatchEvent(new Event('input', { bubbles: true }))
      field.dispatchEvent(new Event('change', { bubbles: true }))
    }
  }
  const place = front?.querySelector('h2')?.textContent ?? (front ? 'menu' : '')
  const selector = 'button, a[href*="?"], summary, [role=menuitem], [role=tab], [role=switch], input[type=checkbox]'
  const options = front?.tagName === 'DIALOG' ? ', [role=option]' : ''
  const names = []
  for (const old of document.querySelectorAll('[data-walk]')) old.removeAttribute('data-walk')
  for (const element of scope.querySelectorAll(selector + options)) {
    const shown = element instanceof HTMLInputElement ? (element.closest('label') ?? element) : element
    const off = element.matches(':disabled, [aria-disabled=true], [target=_blank], [download]')
    if (off || !visible(shown) || closing(element) || element.closest('[inert]') !== null) continue
    const text = element.getAttribute('aria-label') ?? (shown.textContent.trim() || element.getAttribute('title'))
    const where = front === undefined && element.closest('main, .side-panel') === null ? around : place
    const name = `${where} ${text ?? ''}`.replace(/\s+/g, ' ').trim()
    element.setAttribute('data-walk', name)
    names.push(name)
  }
  return names
}

/** Clicks a control. Returns false if it is not there any more. @param {string} name */
function clickControl(name) {
  const found = [...document.querySelectorAll('[data-walk]')].find(
    (element) => element.getAttribute('data-walk') === name,
  )
  if (found instanceof HTMLElement) found.click()
  return found !== undefined
}

/** Resolves when the page has not changed for some frames, or does not rest. */
async function restPage() {
  const frames = { quiet: 2, most: 6 }
  let quiet = 0
  const observer = new MutationObserver(() => {
    quiet = 0
  })
  observer.observe(document.body, { childList: true, subtree: true })
  for (let frame = 0; frame < frames.most && quiet < frames.quiet; frame++) {
    await new Promise(requestAnimationFrame)
    quiet++
  }
  observer.disconnect()
}

/** Paths of the pages that are linked. */
function linkedPaths() {
  const found = [...document.querySelectorAll('a[href^="#/"]')].filter((link) => link.checkVisibility())
  return found.map((link) => link.getAttribute('href')?.slice(1) ?? '')
}

globalThis.walk = { markControls, clickControl, restPage, linkedPaths }
