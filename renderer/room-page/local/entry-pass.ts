const prefix = 'roomdesk.pass.'

/** Proof in this tab that one was in a room: kept over a reload of the page. Empty for none. */
export function keptPass(roomId: string): string {
  try {
    return sessionStorage.getItem(prefix + roomId) ?? ''
  } catch {
    return ''
  }
}

/** @param pass empty: it is forgotten */
export function keepPass(roomId: string, pass: string): void {
  try {
    if (pass === '') sessionStorage.removeItem(prefix + roomId)
    else sessionStorage.setItem(prefix + roomId, pass)
  } catch {
    // Storage may be switched off; then a reload asks anew.
  }
}
