import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { longestSignal } from '../../../shared/media/signal.ts'
import { SignalConnection, type SignalParts } from './signal-connection.ts'

/** Between two pings; a connection that did not answer the one before is cut. */
const pingEveryMs = 5_000
/** From the connection to its first message. */
const enterMs = 10_000
const mostConnections = 5_000

/** The WebSocket of the signalling. */
export class SignalServer {
  readonly #parts: SignalParts
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: longestSignal, perMessageDeflate: false })
  readonly #answered = new WeakSet<WebSocket>()
  readonly #timer: NodeJS.Timeout

  constructor(parts: SignalParts) {
    this.#parts = parts
    this.#timer = setInterval(() => this.#ping(), pingEveryMs).unref()
  }

  /** Takes an upgrade of the HTTP listener. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => {})
    const path = (request.url ?? '').split('?')[0]
    if (path !== '/signal' || this.#server.clients.size >= mostConnections) {
      const status = path === '/signal' ? '503 Service Unavailable' : '404 Not Found'
      socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
      return
    }
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      this.#answered.add(webSocket)
      webSocket.on('pong', () => this.#answered.add(webSocket))
      const connection = new SignalConnection(webSocket, request.socket.remoteAddress ?? '', this.#parts)
      const timer = setTimeout(() => {
        if (!connection.entered) webSocket.terminate()
      }, enterMs).unref()
      webSocket.on('close', () => clearTimeout(timer))
    })
  }

  close(): void {
    clearInterval(this.#timer)
    for (const webSocket of this.#server.clients) webSocket.terminate()
    this.#server.close()
  }

  #ping(): void {
    for (const webSocket of this.#server.clients) {
      if (!this.#answered.delete(webSocket)) webSocket.terminate()
      else webSocket.ping()
    }
  }
}
