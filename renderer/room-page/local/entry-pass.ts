const prefix = 'roomdesk.pass.'

/** Reads this tab's proof of an earlier join, which survives a reload. Empty: none. */
export function keptPass(roomId: string): string {
  try {
    return sessionStorage.getItem(prefix + roomId) ?? ''
  } catch {
    return ''
  }
}

/** @param pass empty: forgets it */
export function keepPass(roomId: string, pass: string): void {
  try {
    if (pass === '') sessionStorage.removeItem(prefix + roomId)
    else sessionStorage.setItem(prefix + roomId, pass)
  } catch {
    // Storage may be disabled; then a reload joins anew.
  }
}
