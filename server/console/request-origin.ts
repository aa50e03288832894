import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { hostname } from 'node:os'

/**
 * Whether a request was meant for this console: its Host is an IP address, localhost or this machine's own name, and its Origin, where a browser sent one,
 * is that same host. A name that somebody else's DNS points here (DNS rebinding) is refused.
 */
export function isOwnRequest(request: IncomingMessage): boolean {
  const host = request.headers.host
  if (host === undefined || !isOwnHost(host)) return false
  const { origin } = request.headers
  if (origin === undefined) return true
  return (
    origin.toLowerCase() === `http://${host.toLowerCase()}` || origin.toLowerCase() === `https://${host.toLowerCase()}`
  )
}

function isOwnHost(host: string): boolean {
  const name = host.replace(/:\d+$/, '').toLowerCase()
  if (name.startsWith('[')) return isIP(name.slice(1, -1)) === 6
  const own = hostname().toLowerCase()
  return isIP(name) === 4 || name === 'localhost' || name === own || name === `${own}.local`
}

const cookieName = 'roomdesk_session'

/** The console session's cookie of a request; empty when it has none. */
export function sessionCookie(request: IncomingMessage): string {
  for (const part of (request.headers.cookie ?? '').split(';')) {
    const [name, value] = part.trim().split('=', 2)
    if (name === cookieName && value !== undefined) return value
  }
  return ''
}

/** A Set-Cookie header: no script reads it, no other site sends it. */
export function cookieHeader(value: string, maxAge: number, secure: boolean): string {
  return `${cookieName}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAge}${secure ? '; Secure' : ''}`
}
