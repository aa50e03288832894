import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { isClientGone } from '../../shared/client-gone.ts'
import type { Gated } from '../gate/gate.ts'
import { lingerMs } from './limits.ts'
import { isOwnProbe } from './own-probes.ts'

export interface EdgeLog {
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** Handlers of a port. An error in a handler is logged in full and closes its connection. */
export interface PortHandlers {
  /** Handles a request. Its `url` is a target in origin form, or `*`. */
  request: Gated<(request: IncomingMessage, response: ServerResponse) => unknown>
  /**
   * Handles an upgrade. undefined: an upgrade is handled like any other request, which HTTP permits (RFC 9110, section
   * 7.8).
   */
  upgrade?: Gated<(request: IncomingMessage, socket: Duplex, head: Buffer) => unknown> | undefined
  /** Handles CONNECT. undefined: responds with 405. */
  connect?: ((socket: Socket) => void) | undefined
  /**
   * Handles bytes that Node cannot parse as a request, or that do not arrive in time; once per connection. undefined:
   * responds with 400, 408 or 431.
   * @param request handles a request that could be parsed nevertheless
   */
  malformed?: ((problem: ClientProblem, socket: Socket, request: RequestListener) => void) | undefined
  /** Handles a target that is neither a path nor a URL. undefined: responds with 400. */
  badTarget?: ((request: IncomingMessage, response: ServerResponse) => void) | undefined
  /** Answers a request that failed and is logged, if its headers are not sent yet. undefined: responds with 500. */
  failed?: ((request: IncomingMessage, response: ServerResponse) => void) | undefined
  /**
   * Returns whether the server should request the body of a request with `Expect: 100-continue`. If not, the server
   * answers at once. undefined: true.
   */
  wantsBody?: ((request: IncomingMessage) => boolean) | undefined
}

/** Error with which Node rejects the input of a connection. */
export interface ClientProblem extends Error {
  code?: string
  /** Last bytes that could not be parsed. */
  rawPacket?: Buffer
}

/** Called for each request and each connection that leaves HTTP. */
export interface Watcher {
  /**
   * @param response undefined for an upgrade or a tunnel
   * @returns false: the request was answered, and must not be handled further
   */
  seen(request: IncomingMessage, response: ServerResponse | undefined): boolean
}

/**
 * Error listener of every socket: an error on a socket without a listener would end the process. The end of a
 * connection is detected by `close`.
 */
export const ignoreError = (): void => {}

/** Current handlers of a port, which may be replaced while the port is open. */
export interface Serving {
  name: string
  handlers: PortHandlers
  log: EdgeLog
  /** Whether the port is stopping, so that each answer closes its connection. */
  isEnding: boolean
}

/** Prevents errors on connections of this server from ending the process. */
export function guard(server: Server, serving: Serving, watcher: Watcher): void {
  const unexpected = (error: unknown, event: string): void =>
    serving.log.error({ err: error, listener: serving.name, event }, 'a handler failed: its connection ends')
  const responseFailed = (error: unknown): void => unexpected(error, 'response')

  const requestFailed = (request: IncomingMessage, response: ServerResponse, error: unknown): void => {
    if (!isClientGone(error)) unexpected(error, 'request')
    if (response.headersSent || response.closed) {
      request.socket.destroy()
      return
    }
    try {
      const { failed } = serving.handlers
      if (failed !== undefined) failed(request, response)
      else answerPlainly(response, 500, 'The server failed on this request.')
    } catch (second) {
      unexpected(second, 'request')
      request.socket.destroy()
    }
  }

  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    response.on('error', responseFailed)
    try {
      if (!watcher.seen(request, response)) return
      // Requests that were received before the connection closed are still emitted, but their answers cannot be sent.
      if (request.socket.destroyed) return
      if (isOwnProbe(request.headers)) return void response.writeHead(204, { connection: 'close' }).end()
      if (request.url?.charCodeAt(0) !== slash) {
        const target = originForm(request.url ?? '')
        if (target === undefined) {
          const { badTarget } = serving.handlers
          if (badTarget !== undefined) badTarget(request, response)
          else answerPlainly(response, 400, 'The request target is malformed.')
          return
        }
        request.url = target
      }
      const work = serving.handlers.request(request, response)
      if (work instanceof Promise) work.catch((error: unknown) => requestFailed(request, response, error))
    } catch (error) {
      requestFailed(request, response, error)
    }
  }

  const upgradeFailed = (socket: Duplex, error: unknown): void => {
    unexpected(error, 'upgrade')
    socket.destroy()
  }

  /** Passes on a socket that has left HTTP; the server's timeouts no longer apply to it. */
  const hand = (event: string, request: IncomingMessage, socket: Duplex, take: () => void): void => {
    socket.on('error', ignoreError)
    socket.once('finish', () => endSoon(socket))
    try {
      if (watcher.seen(request, undefined)) take()
    } catch (error) {
      unexpected(error, event)
      socket.destroy()
    }
  }

  server.on('request', onRequest)
  // An unknown expectation is no reason to reject a request (RFC 9110, section 10.1.1).
  server.on('checkExpectation', onRequest)
  server.on('checkContinue', (request, response) => {
    try {
      if (serving.handlers.wantsBody?.(request) ?? true) response.writeContinue()
    } catch (error) {
      requestFailed(request, response, error)
      return
    }
    onRequest(request, response)
  })
  if (serving.handlers.upgrade !== undefined) {
    server.on('upgrade', (request, socket, head) => {
      hand('upgrade', request, socket, () => {
        const work = serving.handlers.upgrade?.(request, socket, head)
        if (work instanceof Promise) work.catch((error: unknown) => upgradeFailed(socket, error))
      })
    })
  }
  server.on('connect', (request, socket) => {
    hand('connect', request, socket, () => {
      const { connect } = serving.handlers
      if (connect !== undefined && isSocket(socket)) connect(socket)
      else refuseSocket(socket, '405 Method Not Allowed')
    })
  })
  /** Rejected sockets, whose further input is ignored. */
  const givenUp = new WeakSet<Duplex>()
  server.on('clientError', (problem: ClientProblem, socket) => {
    if (givenUp.has(socket)) return
    givenUp.add(socket)
    socket.on('error', ignoreError)
    try {
      const { malformed } = serving.handlers
      // The client has disconnected, or the TLS handshake is not finished, so the client could not read an answer.
      if (problem.code === 'ECONNRESET' || !socket.writable || !isSocket(socket) || isHandshake(socket))
        socket.destroy()
      else if (malformed !== undefined) malformed(problem, socket, onRequest)
      else refuseSocket(socket, malformedStatus[problem.code ?? ''] ?? '400 Bad Request')
    } catch (error) {
      unexpected(error, 'clientError')
      socket.destroy()
    }
  })
}

const slash = 0x2f
const malformedStatus: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Content Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

/**
 * Rejects input that is not a valid request: sends a status line without a body, then closes the connection.
 * @param status e.g. `404 Not Found`
 */
export function refuseSocket(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
  endSoon(socket)
}

/**
 * Closes a connection after its last bytes are written, with a delay during which further input is read and discarded.
 */
export function endSoon(socket: Duplex): void {
  socket.resume()
  setTimeout(() => socket.destroy(), lingerMs).unref()
}

function answerPlainly(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    connection: 'close',
  })
  response.end(text)
}

/** Every socket of a server is a Socket, including TLS sockets. */
function isSocket(socket: Duplex): socket is Socket {
  return 'remoteAddress' in socket
}

function isHandshake(socket: Socket): boolean {
  return socket instanceof TLSSocket && socket.getProtocol() === null
}

/**
 * Returns a request target in origin form (path and query). Removes the host of an absolute target, as in requests to a
 * proxy (RFC 9112, section 3.2.2).
 * `*` stays unchanged. Returns undefined if the target is neither a path nor an HTTP URL.
 */
export function originForm(target: string): string | undefined {
  if (target.startsWith('/') || target === '*') return target
  const [, host, rest = ''] = /^https?:\/\/([^/?#]*)(.*)$/i.exec(target) ?? []
  if (host === undefined || !URL.canParse(`http://${host}`)) return undefined
  return rest.startsWith('/') ? rest : `/${rest}`
}
