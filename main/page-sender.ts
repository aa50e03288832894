import { type IpcMainInvokeEvent, type Session, session, type WebContents } from 'electron'
import type { Role } from '../shared/domain/roles.ts'
import { origin } from './app-scheme.ts'

/**
 * Session partition of windows without an operator: they show only data that viewers may read, and cannot change
 * anything. A request for a custom scheme identifies only the session, not the window, so these windows have their own
 * session.
 */
export const viewerPartition = 'persist:walls'

/** Electron session of the app's pages, with the role of all their calls and requests. */
export interface PageSession {
  session: Session
  role: Role
}

/** Returns the sessions of the app's pages. Must be called when the app is ready. */
export function pageSessions(): PageSession[] {
  return [
    { session: session.defaultSession, role: 'admin' },
    { session: session.fromPartition(viewerPartition), role: 'viewer' },
  ]
}

/** Returns the role of a page of the app. Only pages in the default session have the role `admin`. */
export function roleOf(contents: WebContents): Role {
  return contents.session === session.defaultSession ? 'admin' : 'viewer'
}

/** Whether a call comes from the main frame of the app's page; compares the exact origin. */
export function isFromOurPage({ senderFrame }: IpcMainInvokeEvent): boolean {
  return senderFrame !== null && senderFrame.parent === null && senderFrame.origin === origin
}
