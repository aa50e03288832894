import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type ServerOptions, type WebSocket, WebSocketServer } from 'ws'
import type { NodeRoute } from '../../../shared/authorization/node-routes.ts'
import { splitRoute } from '../../../shared/authorization/route.ts'
import { maxSignal } from '../../../shared/media/signal.ts'
import { wholeText } from '../base/media-log.ts'
import { AddressShares } from '../base/address-shares.ts'
import { SignalConnection, type SignalDependencies } from './signal-connection.ts'

/** Path of signalling connections, which are not authenticated: their first message proves the identity. */
const { path: signalPath } = splitRoute('GET /signal' satisfies NodeRoute)
/** Interval of pings, in milliseconds. A connection that did not answer the previous ping is closed. */
const pingEveryMs = 5_000
/** Time within which a new connection must enter a room or its waiting room, in milliseconds. */
const enterMs = 10_000
/** Timeout for the client's answer to a close frame, in milliseconds. */
const closeMs = 2_000
/**
 * Maximum number of connections in total and per address. The total is many times the number of users for whom one
 * machine can forward media. No address can use up all connections.
 */
const maxConnections = 5_000
const maxPerAddress = 2_500

/** Options of `ws`, whose types lack `closeTimeout`. */
const serverOptions: ServerOptions & { closeTimeout: number } = {
  noServer: true,
  maxPayload: maxSignal,
  perMessageDeflate: false,
  closeTimeout: closeMs,
}

export class SignalServer {
  readonly #dependencies: SignalDependencies
  readonly #server = new WebSocketServer(serverOptions)
  readonly #answered = new WeakSet<WebSocket>()
  readonly #connections = new Set<SignalConnection>()
  readonly #timer: NodeJS.Timeout
  readonly #shares: AddressShares

  /** @param perAddress maximum number of connections per address */
  constructor(dependencies: SignalDependencies, perAddress = maxPerAddress) {
    this.#dependencies = dependencies
    this.#shares = new AddressShares(perAddress)
    this.#timer = setInterval(() => this.#ping(), pingEveryMs).unref()
  }

  /** Handles an upgrade request of the HTTP listener. @param client IP address of the client */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, client: string): void {
    socket.on('error', () => {})
    const path = (request.url ?? '').split('?')[0]
    if (path !== signalPath) return refuse(socket, '404 Not Found')
    const release = this.#server.clients.size < maxConnections ? this.#shares.take(client) : undefined
    if (release === undefined) return refuse(socket, '503 Service Unavailable')
    socket.once('close', release)
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      this.#answered.add(webSocket)
      webSocket.on('pong', () => this.#answered.add(webSocket))
      const connection = new SignalConnection(webSocket, client, this.#dependencies)
      const timer = setTimeout(() => {
        if (!connection.entered) webSocket.terminate()
      }, enterMs).unref()
      this.#connections.add(connection)
      webSocket.on('close', () => {
        clearTimeout(timer)
        this.#connections.delete(connection)
      })
    })
  }

  /** Sends a changed list of other nodes to all connections. */
  notifyNodes(): void {
    for (const connection of this.#connections) connection.notifyNodes()
  }

  close(): void {
    clearInterval(this.#timer)
    for (const webSocket of this.#server.clients) webSocket.terminate()
    this.#server.close()
  }

  #ping(): void {
    for (const webSocket of this.#server.clients) {
      try {
        if (!this.#answered.delete(webSocket)) webSocket.terminate()
        else webSocket.ping()
      } catch (error) {
        // An unexpected error ends only this connection.
        this.#dependencies.log.error('a signalling connection failed', wholeText(error))
        webSocket.terminate()
      }
    }
  }
}

function refuse(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}
