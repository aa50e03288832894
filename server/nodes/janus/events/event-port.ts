import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { sameSecret } from '../../../edge/same-secret.ts'
import { type EdgeLog, refuseSocket } from '../../../edge/guards.ts'
import { unproven } from '../../../gate/gate.ts'
import type { KeptPorts } from '../../../edge/kept-ports.ts'
import type { RequestProof } from '../../../edge/request-proof.ts'
import { connectionLimits } from '../../../edge/limits.ts'
import { EdgeServer } from '../../../edge/server.ts'
import type { TlsMaterial } from '../../../edge/tls.ts'
import { eventPath } from '../../secrets/janus-access.ts'
import { type ConnectionEvent, type JanusEvent, readEvents } from './event-message.ts'

/** A node that may send its events. */
export interface EventSource {
  name: string
  /** Secret that the node sends as the subprotocol of its WebSocket. */
  secret: string
  /** Called when the node connects or disconnects. Events while it is disconnected are lost. */
  connected(connected: boolean): void
  take(event: JanusEvent | ConnectionEvent): void
}

export interface EventPortOptions {
  /** Returns the nodes whose events are accepted now. */
  sources: () => Iterable<EventSource>
  logger: EdgeLog
  /** See EdgeServerOptions. */
  proof?: RequestProof | undefined
  kept?: KeptPorts | undefined
  /** Interval of the checks for disconnected nodes, in milliseconds. */
  beatMs?: number
}

/** Maximum size of a message, which may contain a group of events. */
const maxBytes = 4 * 1024 * 1024
const normalBeatMs = 5_000

interface Connected {
  source: EventSource
  alive: boolean
}

/**
 * Port for the events of Janus nodes (WebSocket event handler, wsevh). Each node connects to a path with its name, and
 * sends its secret as the subprotocol. Other connections are refused.
 */
export class EventPort {
  readonly #options: EventPortOptions
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: maxBytes,
    perMessageDeflate: false,
    handleProtocols: (protocols) => [...protocols][0] ?? false,
  })
  readonly #server: EdgeServer
  readonly #connected = new Map<WebSocket, Connected>()
  #beats: NodeJS.Timeout | undefined

  constructor(options: EventPortOptions) {
    this.#options = options
    this.#server = new EdgeServer({
      name: 'event',
      log: options.logger,
      limits: connectionLimits.event,
      maxHeaderSize: 8 * 1024,
      proof: options.proof,
      kept: options.kept,
      request: unproven('no state', (_, response) => {
        response.writeHead(404, { 'content-length': 0, connection: 'close' }).end()
      }),
      // Events of nodes change only the state of this process. Requests that result from such events are checked in
      // `still-leads.ts`.
      upgrade: unproven('this process', (request, socket, head) => this.#upgrade(request, socket, head)),
    })
  }

  /** URL at which the port listens; empty if it is closed. */
  get url(): string {
    return this.#server.url
  }

  connections(): number {
    return this.#server.connections
  }

  /**
   * Opens the port.
   * @throws ListenError
   */
  async start(host: string, port: number, tls: TlsMaterial | undefined): Promise<void> {
    await this.#server.start({ host, port, tls })
    // Received messages are handled first, so that nodes stay connected after this process was suspended.
    const beat = (): void => void setImmediate(() => this.#beat())
    this.#beats = setInterval(beat, this.#options.beatMs ?? normalBeatMs).unref()
  }

  /** Closes the port and its connections. Nodes reconnect when the port is open again. */
  async stop(): Promise<void> {
    clearInterval(this.#beats)
    for (const socket of [...this.#connected.keys()]) this.#forget(socket)
    await this.#server.stop(0)
  }

  /**
   * Hands the open port to its next owner; nodes reconnect. Returns false if the port is closed or there are no kept
   * ports.
   */
  letGo(): boolean {
    clearInterval(this.#beats)
    for (const socket of [...this.#connected.keys()]) this.#forget(socket)
    return this.#server.letGo()
  }

  /** Sets the certificate for new connections. Open connections are not affected. */
  async secure(tls: TlsMaterial): Promise<void> {
    this.#server.secure(tls)
  }

  /** Disconnects nodes that may no longer send events. */
  review(): void {
    const wanted = new Set(this.#options.sources())
    for (const [socket, { source }] of [...this.#connected]) if (!wanted.has(source)) this.#forget(socket)
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const path = request.url ?? ''
    const [shown = ''] = (request.headers['sec-websocket-protocol'] ?? '').split(',')
    const source = [...this.#options.sources()].find(({ name }) => eventPath(name) === path)
    // For an unknown node, the comparison takes as long as for a wrong secret.
    const right = sameSecret(source?.secret ?? '', shown.trim())
    if (source === undefined || source.secret === '' || !right) return refuseSocket(socket, '401 Unauthorized')
    this.#sockets.handleUpgrade(request, socket, head, (client) => this.#serve(client, source))
  }

  #serve(client: WebSocket, source: EventSource): void {
    // A node that reconnects has lost its previous connection, even if this process has not detected the loss.
    for (const [other, { source: owner }] of [...this.#connected]) if (owner === source) this.#forget(other)
    const connected: Connected = { source, alive: true }
    this.#connected.set(client, connected)
    client.on('pong', () => {
      connected.alive = true
    })
    client.on('error', () => client.terminate())
    client.on('close', () => this.#forget(client))
    client.on('message', (bytes: Buffer) => {
      connected.alive = true
      this.#take(client, source, bytes.toString('utf8'))
    })
    source.connected(true)
  }

  #take(client: WebSocket, source: EventSource, text: string): void {
    if (!this.#connected.has(client)) return
    const events = readEvents(text)
    if (events === undefined) return client.close(1007)
    try {
      for (const event of events) source.take(event)
    } catch (error) {
      this.#options.logger.error({ err: error, node: source.name }, 'could not handle an event of a Janus node')
    }
  }

  #forget(socket: WebSocket): void {
    const connected = this.#connected.get(socket)
    if (connected === undefined) return
    this.#connected.delete(socket)
    socket.terminate()
    connected.source.connected(false)
  }

  #beat(): void {
    for (const [socket, connected] of [...this.#connected]) {
      if (!connected.alive) {
        this.#forget(socket)
        continue
      }
      connected.alive = false
      socket.ping()
    }
  }
}
