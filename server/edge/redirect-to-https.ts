import { createServer as createHttpServer, type IncomingMessage } from 'node:http'
import type { Server as NetServer } from 'node:net'
import type { Duplex } from 'node:stream'
import { splitByFirstByte } from './first-byte.ts'
import { endSoon, ignoreError, originForm, refuseSocket } from './guards.ts'

/** Port of a plain request whose Host names no port (RFC 9110, section 4.2.1). The same port also serves TLS. */
const plainPort = 80
/** Host of a request: a name, an IPv4 or a bracketed IPv6 address, with an optional port. */
const hostPattern = /^(?<name>[\w.-]{1,253}|\[[\da-f:.]{2,45}\])(?::(?<port>\d{1,5}))?$/i

interface PlainBounds {
  /**
   * Maximum time from the connection to its first byte, and to the end of the headers of a plain request, in
   * milliseconds.
   */
  headersMs: number
  /** Maximum size of target and headers together, in bytes. */
  maxHeaderSize: number
}

/**
 * Answers plain HTTP on a TLS port with 308 to the same address over https (RFC 9110, section 15.4.9). The first byte
 * of a connection decides. An upgrade is refused with the same redirect. Handshakes continue in Node's own listener,
 * which reads the byte again.
 */
export function redirectPlainHttp(server: NetServer, { headersMs, maxHeaderSize }: PlainBounds): void {
  const redirector = createHttpServer({ maxHeaderSize, requireHostHeader: false })
  redirector.on('request', (request, response) => {
    response.writeHead(308, { location: secureUrl(request), 'content-length': 0, connection: 'close' })
    response.end()
    endSoon(request.socket)
  })
  const refuseUpgrade = (request: IncomingMessage, socket: Duplex): void => {
    socket.on('error', ignoreError)
    refuseSocket(socket, `308 Permanent Redirect\r\nLocation: ${secureUrl(request)}`)
  }
  redirector.on('upgrade', refuseUpgrade)
  redirector.on('connect', (_, socket) => refuseSocket(socket, '405 Method Not Allowed'))
  redirector.on('checkContinue', (request, response) => redirector.emit('request', request, response))
  redirector.on('clientError', (_, socket) => {
    if (socket.writable) refuseSocket(socket, '400 Bad Request')
    else socket.destroy()
  })

  const shakeHands = splitByFirstByte(server, {
    waitMs: headersMs,
    late: (transport) => transport.destroy(),
    handshake: (transport) => shakeHands(transport),
    // The timer keeps running, because it also limits slow headers.
    plain: (transport) => void redirector.emit('connection', transport),
  })
}

/**
 * Returns the https address for a plain request. An invalid Host is replaced by the local address of the connection.
 */
function secureUrl({ headers, url = '/', socket }: IncomingMessage): string {
  const named = hostPattern.exec(headers.host ?? '')?.groups
  const target = originForm(url)?.replaceAll(/[^\x21-\x7e]/g, encodeURIComponent) ?? '/'
  const path = target.startsWith('/') ? target : '/'
  if (named?.name !== undefined) return `https://${named.name}:${named.port ?? plainPort}${path}`
  const { localAddress = '', localPort = plainPort } = socket
  return `https://${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}${path}`
}
