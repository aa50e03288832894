import { type IpcMainInvokeEvent, type Session, session, type WebContents } from 'electron'
import type { Role } from '../shared/domain/roles.ts'
import { origin } from './app-scheme.ts'

/**
 * Session partition of windows without an operator: they show what viewers may see, and change nothing. Requests of a
 * scheme identify only the session, not the window, so these windows have their own session.
 */
export const viewerPartition = 'persist:walls'

/** Session of the app's pages, with the role of all calls and requests of its pages. */
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

/** Returns the role of a page of the app: only the operator's own session is an admin. */
export function roleOf(contents: WebContents): Role {
  return contents.session === session.defaultSession ? 'admin' : 'viewer'
}

/** Whether a call comes from the main frame of the app's page, by exact origin. */
export function isFromOurPage({ senderFrame }: IpcMainInvokeEvent): boolean {
  return senderFrame !== null && senderFrame.parent === null && senderFrame.origin === origin
}
