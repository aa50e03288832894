import { sleep } from '../../shared/sleep.ts'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { splitRoute } from '../../shared/authorization/route.ts'
import { type PortHandlers, refuseSocket } from '../edge/guards.ts'
import { proven, unproven } from '../gate/gate.ts'
import type { KeptPorts } from '../edge/kept-ports.ts'
import { connectionLimits } from '../edge/limits.ts'
import { provenRequest } from '../edge/passed-on.ts'
import { EdgeServer } from '../edge/server.ts'
import type { TlsMaterial } from '../edge/tls.ts'
import { announcedLength } from '../edge/unread-body.ts'
import type { ConsoleCaller } from './callers.ts'
import { ConsoleSockets } from './console-socket.ts'
import type { EventHub } from './event-hub.ts'
import { Entrance, type EntranceDependencies } from './entrance.ts'
import { ConsoleHttpRoutes, type ConsoleRouteOptions, maxBody, maxSignInBody, type RouteWith } from './http-routes.ts'
import { wantsEvents } from './passed-on-calls.ts'
import { type ConsoleNames, isOwnRequest, sessionCookie } from './request-origin.ts'

export interface ConsoleListenerOptions extends EntranceDependencies, ConsoleNames, ConsoleRouteOptions {
  hub: EventHub
  /**
   * Returns the last certificate before TLS was switched off, if that was before this process started; undefined: none.
   */
  formerTls?: () => Promise<TlsMaterial | undefined>
  /** See EdgeServerOptions. */
  kept?: KeptPorts | undefined
}

/** Path of the WebSocket, which requires a session and the origin of the page. */
const { path: consoleSocketPath } = splitRoute('GET /ws' satisfies RouteWith<'session'>)
/** Close code for consoles whose server restarts (IANA's registry of WebSocket close codes). */
const serviceRestart = 1012
/** Time for responses in progress, in milliseconds. */
const answerMs = 300
/** A replica that receives events for its pages. */
const listeningController: ConsoleCaller = { role: 'admin', way: 'key' }

/** The port of the headless console: the page, its session, the WebSocket, `/rpc`, `/healthz` and `/metrics`. */
export class ConsoleListener {
  readonly #options: ConsoleListenerOptions
  readonly #entrance: Entrance
  readonly #sockets: ConsoleSockets
  readonly #routes: ConsoleHttpRoutes
  readonly #server: EdgeServer
  /**
   * Last TLS certificate of this port. While the port serves plain HTTP, it also accepts TLS connections with this
   * certificate, from pages that were opened over HTTPS.
   */
  #shown: TlsMaterial | undefined

  /**
   * Host names of the console. Pages that continue with https may have been opened under a name of the last
   * certificate.
   */
  readonly #names: ConsoleNames

  constructor(options: ConsoleListenerOptions) {
    this.#options = options
    const { publicUrl, certificate } = options
    this.#names = { publicUrl, certificate: () => certificate() ?? this.#shown }
    this.#entrance = new Entrance(options)
    this.#sockets = new ConsoleSockets(options.dispatch, options.hub, options.logger)
    this.#routes = new ConsoleHttpRoutes(options, this.#entrance, this.#names, this.#sockets)
    this.#server = new EdgeServer({
      name: 'console',
      log: options.logger,
      limits: connectionLimits.console,
      // A restore or an import may take long.
      timeouts: { requestMs: 60_000, stallMs: 120_000 },
      maxHeaderSize: 16 * 1024,
      proof: options.proof,
      kept: options.kept,
      wantsBody: (request) => this.#wantsBody(request),
      request: unproven('gated inside', this.#routes.app().callback()),
      upgrade: this.#upgrade(),
    })
  }

  /** WebSocket of consoles, and of replicas that receive events for their pages. */
  #upgrade(): NonNullable<PortHandlers['upgrade']> {
    return proven(
      this.#options.leadership,
      (_view, request: IncomingMessage, socket: Duplex, head: Buffer): void => {
        const [path] = (request.url ?? '').split('?', 1)
        if (path === '/ws' && wantsEvents(request) && this.#routes.leads)
          return this.#sockets.accept(request, socket, head, () => listeningController, '', 'listens')
        const caller = (): ConsoleCaller | undefined => this.#entrance.sessionOf(request)
        const own =
          path === consoleSocketPath && isOwnRequest(request, this.#names) && provenRequest(request) === undefined
        const allowed = own && caller() !== undefined
        if (allowed) this.#sockets.accept(request, socket, head, caller, sessionCookie(request))
        else refuseSocket(socket, '401 Unauthorized')
      },
      (_error, [, socket]) => refuseSocket(socket, '503 Service Unavailable'),
    )
  }

  /** URL of the port; empty while it is closed. */
  get url(): string {
    return this.#server.url
  }

  connections(): number {
    return this.#server.connections
  }

  /** @throws ListenError */
  async start(host: string, port: number, tls: TlsMaterial | undefined): Promise<void> {
    this.#shown = tls ?? this.#shown ?? (await this.#options.formerTls?.())
    await this.#server.start({ host, port, tls, formerTls: tls === undefined ? this.#shown : undefined })
  }

  /** Makes consoles reconnect and reload everything. */
  restartConsoles(): void {
    for (const socket of this.#sockets.connected()) socket.close(serviceRestart)
  }

  /**
   * Releases the port to its next owner, because this program takes another role. Consoles reconnect to the new owner.
   */
  letGo(): boolean {
    this.restartConsoles()
    return this.#server.letGo()
  }

  /** Uses this certificate for new connections; open ones are not affected. */
  async secure(tls: TlsMaterial): Promise<void> {
    this.#shown = tls
    this.#server.secure(tls)
  }

  /**
   * Closes the connections of ended sessions, so that their consoles must sign in again. A console waiting for a
   * response receives it first.
   */
  reviewSessions(): void {
    this.#sockets.review()
  }

  /**
   * Stops accepting connections. Open connections remain briefly: the call that moves this port uses one of them, and
   * its response must arrive. Then they are closed, and the consoles reconnect at the new address.
   */
  async stop(deadlineMs = 0): Promise<void> {
    const lingerMs = deadlineMs + 1_000
    const consoles = this.#sockets.connected()
    setTimeout(() => {
      for (const socket of consoles) socket.close(1001)
    }, lingerMs).unref()
    const stopped = this.#server.stop(lingerMs)
    await Promise.race([stopped, sleep(answerMs)])
  }

  /**
   * Whether to send `100 Continue` for a request. For unauthenticated requests, it is sent only for a sign-in; all
   * others receive the refusal at once.
   */
  #wantsBody(request: IncomingMessage): boolean {
    if (!isOwnRequest(request, this.#names)) return false
    const length = announcedLength(request)
    const [path] = (request.url ?? '').split('?', 1)
    if (path === '/session') return length <= maxSignInBody
    return length <= maxBody && this.#entrance.callerOf(request) !== undefined
  }
}
