import { createServer as createHttpServer, type IncomingMessage, type Server as HttpServer } from 'node:http'
import type { Server, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createSecureContext, createServer as createTlsServer, type TLSSocket } from 'node:tls'
import { endSoon, ignoreError, originForm, refuseSocket } from './guards.ts'
import { controllerName } from './site-names.ts'
import type { TlsMaterial } from './tls.ts'

/**
 * First byte of a TLS connection: a record of type handshake (RFC 8446, section 5.1). No HTTP request begins with this
 * byte.
 */
const handshakeByte = 0x16

/** Event that passes a connection to the server after its first byte is known. */
const taken = 'roomdesk:connection'

/** Handlers of the connections of a port that may use TLS or plain HTTP. */
interface ByFirstByte {
  /** Maximum time without a byte, in milliseconds. */
  waitMs: number
  /** Called if no byte arrives within `waitMs`. */
  late: (transport: Socket) => void
  /** Called when a handshake begins. The connection is paused, and its first bytes can be read again. */
  handshake: (transport: Socket) => void
  /**
   * Called when a plain request begins. The connection is paused, and its first bytes can be read again.
   * @param inTime stops the timer
   */
  plain: (transport: Socket, inTime: () => void) => void
}

/**
 * Distinguishes TLS from plain HTTP by the first byte of each connection.
 * @returns a function that passes a connection to the original listeners: HTTP and TLS servers accept connections
 * through their `connection` event (documented for node:http and node:tls)
 */
function splitByFirstByte(server: Server, { waitMs, late, handshake, plain }: ByFirstByte): (socket: Socket) => void {
  for (const taker of server.listeners('connection')) server.on(taken, taker as (socket: Socket) => void)
  server.removeAllListeners('connection')
  server.on('connection', (transport: Socket) => {
    transport.on('error', ignoreError)
    const ended = (): void => void transport.end()
    const timer = setTimeout(() => late(transport), waitMs).unref()
    const inTime = (): void => clearTimeout(timer)
    transport.once('close', inTime)
    transport.once('end', ended)
    transport.once('data', (first: Buffer) => {
      transport.off('end', ended)
      transport.pause()
      transport.unshift(first)
      if (first[0] === handshakeByte) {
        inTime()
        handshake(transport)
        return
      }
      plain(transport, inTime)
      transport.resume()
    })
  })
  return (socket) => void server.emit(taken, socket)
}

interface CertificatesBeside {
  /** Certificate for pages that were opened over https before TLS was switched off; undefined: none. */
  pages: TlsMaterial | undefined
  /** Certificate for other controllers of the site; undefined: none. */
  controllers: TlsMaterial | undefined
}

/**
 * Serves TLS beside plain HTTP on the same port, depending on the first byte of a connection. The server emits
 * `secureConnection` after a handshake.
 * @param firstByteMs limit for a silent connection and for a handshake, in milliseconds
 */
export function serveTlsBeside(
  server: HttpServer,
  { pages, controllers }: CertificatesBeside,
  firstByteMs: number,
): void {
  const shown = pages ?? controllers
  if (shown === undefined) return
  const ofControllers = createSecureContext({ cert: controllers?.cert, key: controllers?.key })
  const read = splitByFirstByte(server, {
    waitMs: firstByteMs,
    late: (transport) => {
      const problem = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
      server.emit('clientError', problem, transport)
    },
    handshake: (transport) => void secure.emit('connection', transport),
    plain: (transport, inTime) => {
      inTime()
      read(transport)
    },
  })
  const secure = createTlsServer({
    ...{ cert: shown.cert, key: shown.key, handshakeTimeout: firstByteMs },
    SNICallback: (name, done) => done(null, name === controllerName && controllers ? ofControllers : undefined),
  })
  secure.on('secureConnection', (socket: TLSSocket) => {
    server.emit('secureConnection', socket)
    read(socket)
  })
  secure.on('tlsClientError', (_, socket) => socket.destroy())
}

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
export function redirectPlainHttp(server: Server, { headersMs, maxHeaderSize }: PlainBounds): void {
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
