/** Tells whether a dialog is open; one that is closing does not count. */
export function isDialogInFront(): boolean {
  const dialogs = document.querySelectorAll('.el-overlay:not([class*="leave"]) [role="dialog"][aria-modal="true"]')
  return [...dialogs].some((dialog) => dialog.checkVisibility())
}
