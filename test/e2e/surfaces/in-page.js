// Finds the dialogs, panels and menus that are open. The walk puts this function into the page, and calls it.

/**
 * Names of the open surfaces: the component whose template holds it, and its kind, e.g. `RoomDialog FormDialog`. Marks the one that is sought.
 * Reads the tree of the page: nothing in the document names a component.
 * @param {string[]} kinds components that make a surface
 * @param {string} sought name of the surface that gets the attribute `data-surface`
 */
function openSurfaces(kinds, sought) {
  const surface = '[role="menu"], .side-panel, .frame, dialog'
  const open = new Set()
  for (const old of document.querySelectorAll('[data-surface]')) old.removeAttribute('data-surface')
  const isVisible = (element) =>
    element.checkVisibility({ visibilityProperty: true }) && element.closest('[class*="leave-active"]') === null
  const visit = (vnode, name) => {
    if (vnode === null || typeof vnode !== 'object') return
    const owner = vnode.ctx?.type.__name
    if (vnode.type === 'dialog' && !kinds.includes(owner)) name = `${owner} dialog`
    const kind = vnode.component?.type.name ?? vnode.component?.type.__name
    // A menu on one row wraps the library's: the template with the outer one holds it.
    if (kinds.includes(kind) && !kinds.includes(owner)) name = `${owner} ${kind}`
    if (name !== '' && vnode.el instanceof Element && vnode.el.matches(surface) && isVisible(vnode.el)) {
      open.add(name)
      if (name === sought) vnode.el.setAttribute('data-surface', '')
    }
    if (vnode.component) visit(vnode.component.subTree, name)
    if (vnode.suspense) visit(vnode.suspense.activeBranch, name)
    if (Array.isArray(vnode.children)) for (const child of vnode.children) visit(child, name)
  }
  visit(document.querySelector('#app')?._vnode ?? null, '')
  return [...open]
}

globalThis.surfaces = { openSurfaces }
