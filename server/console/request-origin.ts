import { X509Certificate } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { TLSSocket } from 'node:tls'
import { halfOfSubprotocols, pageHalfHeader, ticketParameter } from '../../shared/console/session-halves.ts'
import type { PageProof } from '../access/accounts/account-sessions.ts'
import type { TlsMaterial } from '../edge/tls.ts'

/** Host names of the console, in addition to IP addresses, localhost and the name of the machine. */
export interface ConsoleNames {
  /** Returns the setting `media.public_url`; empty if not set. */
  publicUrl: () => string
  /** Returns the certificate of the port; undefined for plain HTTP. */
  certificate: () => TlsMaterial | undefined
}

/**
 * Whether a request is meant for this console. Its Host must be an IP address, localhost, the name of the machine, the
 * host of the public address or a name in the certificate. Its Origin, if sent, must be that host or the public
 * address. Rejects names that a foreign DNS server resolves to this machine (DNS rebinding).
 */
export function isOwnRequest(request: IncomingMessage, names: ConsoleNames): boolean {
  const host = request.headers.host?.toLowerCase()
  if (host === undefined || !isOwnHost(host, names)) return false
  const origin = request.headers.origin?.toLowerCase()
  if (origin === undefined || origin === `https://${host}`) return true
  // A reverse proxy may add TLS in front of a console on plain HTTP. The reverse is rejected.
  if (origin === `http://${host}` && !isSecure(request)) return true
  // A reverse proxy may replace Host, but never Origin.
  return withoutDot(origin) === publicUrl(names)?.origin
}

/** Whether a request was received over TLS. */
export function isSecure(request: IncomingMessage): boolean {
  return request.socket instanceof TLSSocket
}

function isOwnHost(host: string, names: ConsoleNames): boolean {
  const name = withoutDot(host).replace(/:\d+$/, '')
  if (name.startsWith('[')) return isIP(name.slice(1, -1)) === 6
  const own = hostname().toLowerCase()
  if (isIP(name) === 4 || name === 'localhost' || name === own || name === `${own}.local`) return true
  return name === publicUrl(names)?.hostname || isCertified(name, names.certificate())
}

function publicUrl(names: ConsoleNames): URL | undefined {
  const url = withoutDot(names.publicUrl())
  return URL.canParse(url) ? new URL(url) : undefined
}

/** Removes the trailing dot of a fully qualified name, which denotes the same host. */
function withoutDot(origin: string): string {
  return origin.replace(/\.(?=(?::\d+)?$)/, '')
}

/** Parsed certificates, cached because requests with a foreign Host must stay cheap. */
const certificates = new WeakMap<TlsMaterial, X509Certificate>()

function isCertified(name: string, material: TlsMaterial | undefined): boolean {
  if (material === undefined) return false
  let certificate = certificates.get(material)
  if (certificate === undefined) {
    certificate = new X509Certificate(material.cert)
    certificates.set(material, certificate)
  }
  return certificate.checkHost(name, { subject: 'never' }) !== undefined
}

/**
 * Name of the session cookie. The names differ, because a console may switch TLS on and off. A page without TLS cannot
 * replace a cookie set over TLS (RFC 6265bis, section 5.7). Browsers accept `__Host-` only from the same host over TLS.
 */
const cookieName = (secure: boolean): string => (secure ? '__Host-roomdesk_session' : 'roomdesk_session')

/** Returns the console session's cookie of a request; empty if there is none. */
export function sessionCookie(request: IncomingMessage): string {
  const wanted = cookieName(isSecure(request))
  for (const part of (request.headers.cookie ?? '').split(';')) {
    const [name, value] = part.trim().split('=', 2)
    if (name === wanted && value !== undefined) return value
  }
  return ''
}

/**
 * Returns the proof of a request in addition to its cookie: the page's half of the session secret, or the ticket of a
 * download.
 */
export function pageProof({ headers, url = '' }: IncomingMessage): PageProof {
  const half = headers[pageHalfHeader]
  if (typeof half === 'string') return { half }
  const [path = '', query = ''] = url.split('?', 2)
  const ticket = new URLSearchParams(query).get(ticketParameter)
  if (ticket !== null) return { ticket, path }
  return { half: halfOfSubprotocols(headers['sec-websocket-protocol'] ?? '') }
}

/** Returns headers with both halves of a session secret, for connections with and without TLS. */
export function sessionHeaders(cookie: string, half: string): Record<string, string> {
  return { cookie: `${cookieName(true)}=${cookie}; ${cookieName(false)}=${cookie}`, [pageHalfHeader]: half }
}

/** Returns a Set-Cookie header. Scripts cannot read the cookie, and requests from other sites do not contain it. */
export function cookieHeader(value: string, maxAge: number, secure: boolean): string {
  return `${cookieName(secure)}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAge}${secure ? '; Secure' : ''}`
}
