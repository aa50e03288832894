/** Dialogs and menus of the browser itself. */
const native = 'dialog:modal, :popover-open:not([popover="manual"])'
/** Dialogs and drawers of Element Plus; one that is closing does not count. */
const library = '.el-overlay:not([class*="leave"]) [role="dialog"][aria-modal="true"]'
/** Elements that take the keys themselves. A checkbox only takes the space bar. */
const fields = 'input:not([type="checkbox"]), textarea, select, [contenteditable]:not([contenteditable="false"])'

/** Tells whether a dialog is open; one that is closing does not count. */
export function isDialogInFront(): boolean {
  return (
    document.querySelector(native) !== null ||
    [...document.querySelectorAll(library)].some((dialog) => dialog.checkVisibility())
  )
}

/** Tells whether the user is typing, or a dialog or menu is open: then keys are no shortcuts. */
export function typingOrDialogOpen({ target }: Event): boolean {
  return (target instanceof Element && target.closest(fields) !== null) || isDialogInFront()
}
