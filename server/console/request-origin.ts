import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { TLSSocket } from 'node:tls'
import { halfOfSubprotocols, pageHalfHeader, ticketParameter } from '../../shared/console/session-halves.ts'
import type { PageProof } from '../access/accounts/page-half.ts'

/**
 * Whether a request was meant for this console: its Host is an IP address, localhost or this machine's own name, and its Origin, where a browser sent one,
 * is that same host. A name that somebody else's DNS points here (DNS rebinding) is refused.
 */
export function isOwnRequest(request: IncomingMessage): boolean {
  const host = request.headers.host
  if (host === undefined || !isOwnHost(host)) return false
  const origin = request.headers.origin?.toLowerCase()
  if (origin === undefined || origin === `https://${host.toLowerCase()}`) return true
  // A proxy in front may speak TLS for a console that does not; never the other way round.
  return origin === `http://${host.toLowerCase()}` && !isSecure(request)
}

/** Whether a request came over TLS. */
export function isSecure(request: IncomingMessage): boolean {
  return request.socket instanceof TLSSocket
}

function isOwnHost(host: string): boolean {
  const name = host.replace(/:\d+$/, '').toLowerCase()
  if (name.startsWith('[')) return isIP(name.slice(1, -1)) === 6
  const own = hostname().toLowerCase()
  return isIP(name) === 4 || name === 'localhost' || name === own || name === `${own}.local`
}

/**
 * Two names: a cookie that was set over TLS cannot be replaced by a page without it (RFC 6265bis, section 5.7), and a console may come to TLS and leave it again.
 * `__Host-` is taken by browsers from this very host over TLS only.
 */
const cookieName = (secure: boolean): string => (secure ? '__Host-roomdesk_session' : 'roomdesk_session')

/** The console session's cookie of a request; empty when it has none. */
export function sessionCookie(request: IncomingMessage): string {
  const wanted = cookieName(isSecure(request))
  for (const part of (request.headers.cookie ?? '').split(';')) {
    const [name, value] = part.trim().split('=', 2)
    if (name === wanted && value !== undefined) return value
  }
  return ''
}

/** What a request shows beside the cookie: the page's half of its session, or the ticket of a download. */
export function pageProof({ headers, url = '' }: IncomingMessage): PageProof {
  const half = headers[pageHalfHeader]
  if (typeof half === 'string') return { half }
  const [path = '', query = ''] = url.split('?', 2)
  const ticket = new URLSearchParams(query).get(ticketParameter)
  if (ticket !== null) return { ticket, path }
  return { half: halfOfSubprotocols(headers['sec-websocket-protocol'] ?? '') }
}

/** Headers that show both halves of a session, over TLS and without. */
export function sessionHeaders(cookie: string, half: string): Record<string, string> {
  return { cookie: `${cookieName(true)}=${cookie}; ${cookieName(false)}=${cookie}`, [pageHalfHeader]: half }
}

/** A Set-Cookie header: no script reads it, no other site sends it. */
export function cookieHeader(value: string, maxAge: number, secure: boolean): string {
  return `${cookieName(secure)}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAge}${secure ? '; Secure' : ''}`
}
