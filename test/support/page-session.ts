import type { IncomingHttpHeaders } from 'node:http'
import { pageHalfHeader } from '../../shared/console/session-halves.ts'

/** The page's half of each session that began, by cookie. */
const halves = new Map<string, string>()

/** Reads both halves of a session from the answer to a sign-in. @returns its cookie; empty when none began */
export function begunCookie(headers: Headers | IncomingHttpHeaders): string {
  const read = (name: string): string => {
    const value = headers instanceof Headers ? headers.get(name) : headers[name]
    return (Array.isArray(value) ? value[0] : value) ?? ''
  }
  const cookie = read('set-cookie').split(';')[0] ?? ''
  halves.set(cookie, read(pageHalfHeader))
  return cookie
}

/** The page's half of a session that began; empty for a made-up cookie. */
export function halfOf(cookie: string): string {
  return halves.get(cookie) ?? ''
}

/** Headers by which the page shows its session. */
export function bothHalves(cookie: string): { cookie: string; [pageHalfHeader]: string } {
  return { cookie, [pageHalfHeader]: halfOf(cookie) }
}
