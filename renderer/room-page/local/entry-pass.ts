import { tabStorage } from '../../kit/storage.ts'

const prefix = 'roomdesk.pass.'

/** Reads this tab's proof of an earlier join, which survives a reload. Empty: none. */
export function keptPass(roomId: string): string {
  return tabStorage.get(prefix + roomId) ?? ''
}

/** @param pass empty: removes the stored one */
export function keepPass(roomId: string, pass: string): void {
  tabStorage.set(prefix + roomId, pass || undefined)
}
