import { type IpcMainInvokeEvent, type Session, session, type WebContents } from 'electron'
import type { Role } from '../shared/domain/roles.ts'
import { origin } from './app-scheme.ts'

/**
 * Partition of windows that nobody operates: they show what viewers may see, and change nothing. Requests of a scheme belong to a session and name no window, so these windows have a session
 * of their own.
 */
export const viewerPartition = 'persist:walls'

/** A session of the app's pages, with the role of all that its pages call and request. */
export interface PageSession {
  session: Session
  role: Role
}

/** Returns the sessions of the app's pages. Call it when the app is ready. */
export function pageSessions(): PageSession[] {
  return [
    { session: session.defaultSession, role: 'admin' },
    { session: session.fromPartition(viewerPartition), role: 'viewer' },
  ]
}

/** Role of a page of the app: only the operator's own session is an admin. */
export function roleOf(contents: WebContents): Role {
  return contents.session === session.defaultSession ? 'admin' : 'viewer'
}

/** Tells whether a call comes from our page's main frame, by exact origin. */
export function isFromOurPage({ senderFrame }: IpcMainInvokeEvent): boolean {
  return senderFrame !== null && senderFrame.parent === null && senderFrame.origin === origin
}
