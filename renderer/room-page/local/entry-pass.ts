const prefix = 'roomdesk.pass.'

/** Reads this tab's proof of an earlier join, which survives a reload. Empty: none. */
export function keptPass(roomId: string): string {
  try {
    return sessionStorage.getItem(prefix + roomId) ?? ''
  } catch {
    return ''
  }
}

/** @param pass empty: removes the stored one */
export function keepPass(roomId: string, pass: string): void {
  try {
    if (pass === '') sessionStorage.removeItem(prefix + roomId)
    else sessionStorage.setItem(prefix + roomId, pass)
  } catch {
    // Storage may be disabled: a reload then joins as a new user.
  }
}
