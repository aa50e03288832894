import type { IpcMainInvokeEvent, WebContents } from 'electron'
import type { Role } from '../shared/console/role-names.ts'
import { origin } from './app-scheme.ts'

/** Pages that nobody operates: their calls are those of a viewer. */
const viewers = new WeakSet<WebContents>()

/** Makes a page a viewer: it shows what viewers may see, and changes nothing. */
export function makeViewer(contents: WebContents): void {
  viewers.add(contents)
}

/** Role of a page of the app. */
export function roleOf(contents: WebContents): Role {
  return viewers.has(contents) ? 'viewer' : 'admin'
}

/** Tells whether a call comes from our page's main frame, by exact origin. */
export function isFromOurPage({ senderFrame }: IpcMainInvokeEvent): boolean {
  return senderFrame !== null && senderFrame.parent === null && senderFrame.origin === origin
}
