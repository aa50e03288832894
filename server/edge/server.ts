import { createServer as createHttpServer, type Server, type ServerOptions, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { stopAccepting } from './node-internals.ts'
import { createServer as createHttpsServer, Server as HttpsServer } from 'node:https'
import { TLSSocket } from 'node:tls'
import { busy, type Connection, ConnectionTable } from './connection-table.ts'
import { type EdgeLog, guard, ignoreError, type PortHandlers, refuseSocket, type Serving } from './guards.ts'
import type { KeptPorts, Running } from './kept-ports.ts'
import { type ConnectionLimits, type ConnectionTimeouts, connectionTimeouts } from './limits.ts'
import { listenError } from './listen-error.ts'
import { listenerUrl } from './network-addresses.ts'
import { checkPassedOn, refuseAsNotLeader } from './passed-on.ts'
import type { ProofProblem, RequestProof } from './request-proof.ts'
import { redirectPlainHttp, serveTlsBeside } from './first-byte.ts'
import type { TlsMaterial } from './tls.ts'

export interface EdgeServerOptions extends PortHandlers {
  /** Name in messages, e.g. `media`. */
  name: string
  log: EdgeLog
  limits: ConnectionLimits
  timeouts?: Partial<ConnectionTimeouts> | undefined
  /** Maximum size of target and headers together, in bytes. */
  maxHeaderSize: number
  /** Resolves when all work is finished, including work for disconnected clients. A stop waits for this promise. */
  idle?: (() => Promise<void>) | undefined
  /** Interval of log lines about a full port, in milliseconds. */
  reportMs?: number
  /** Proofs of requests from other controllers, set on a site with several controllers. */
  proof?: RequestProof | undefined
  /**
   * Listening ports during a change of owner: `start` takes an open port from here, and `letGo` leaves the port here.
   */
  kept?: KeptPorts | undefined
}

export interface ListenAddress {
  host: string
  /** Port number; 0: any free port. */
  port: number
  /** Certificate and key; undefined: plain HTTP. */
  tls?: TlsMaterial | undefined
  /** Certificate for other controllers of the site on a port of plain HTTP; undefined: the certificate of `proof`. */
  controllersTls?: TlsMaterial | undefined
  /** Certificate on a port of plain HTTP for pages that were opened over https before TLS was switched off. */
  formerTls?: TlsMaterial | undefined
}

/**
 * Clients with which a port uses TLS. On a port with plain HTTP: pages opened before TLS was switched off, or
 * controllers.
 */
type TlsFor = 'everybody' | 'pages' | 'controllers' | 'nobody'

/** Time in milliseconds in which active clients get `Connection: close` with their next answer. */
const goodbyeMs = 250
/** Time in milliseconds since the last request after which a connection counts as unused and is closed at once. */
const unusedMs = 5_000

/** Time in milliseconds for sending answers that were just written, after the last request is finished. */
const flushMs = 250

/**
 * One port of the product: HTTP or HTTPS, guarded and within limits. All ports are created here, so that they share
 * every protection. A port can be started again after a stop, even at another address.
 */
export class EdgeServer {
  readonly #options: EdgeServerOptions
  #running: Running | undefined

  constructor(options: EdgeServerOptions) {
    this.#options = options
  }

  /** URL, e.g. `http://127.0.0.1:7080`; empty: the port is closed. */
  get url(): string {
    return this.#running?.url ?? ''
  }

  get connections(): number {
    return this.#running?.table.size ?? 0
  }

  /**
   * Opens the port, or takes it over from the kept ports.
   * @throws PortInUseError, ListenError
   */
  async start({ host, port, tls, controllersTls, formerTls }: ListenAddress): Promise<{ port: number; url: string }> {
    if (this.#running !== undefined) throw new TypeError('the port listens already')
    const { name, log, limits, kept, proof } = this.#options
    const taken = kept?.take(host, port, tls !== undefined)
    if (taken !== undefined) return this.#goOn(taken, tls)
    const settings = this.#serverOptions()
    const server: Server =
      tls === undefined
        ? createHttpServer(settings)
        : createHttpsServer({ ...settings, ...tls, handshakeTimeout: this.#timeouts.headersMs })
    server.timeout = this.#timeouts.stallMs
    const serving = { name, handlers: this.#options, log, isEnding: false }
    const table = new ConnectionTable(limits, this.#timeouts.unreadMs)
    const controllers = proof === undefined ? undefined : (controllersTls ?? proof.tls)
    const beside = { pages: formerTls, controllers }
    const { headersMs } = this.#timeouts
    const { maxHeaderSize } = this.#options
    if (tls !== undefined) redirectPlainHttp(server, { headersMs, maxHeaderSize })
    else serveTlsBeside(server, beside, this.#timeouts.headersMs)
    const tlsBeside = formerTls !== undefined ? 'pages' : controllers !== undefined ? 'controllers' : 'nobody'
    this.#watch(server, table, serving, tls !== undefined ? 'everybody' : tlsBeside)
    const bound = await listen(server, name, host, port)
    server.on('error', (error) => serving.log.error({ err: error, listener: name }, 'a listener failed'))
    const secure = tls !== undefined
    const url = listenerUrl(host, bound, secure ? 'https' : 'http')
    const report = setInterval(() => reportFull(table, serving), this.#options.reportMs ?? 10_000).unref()
    const readers = setInterval(() => table.lookAtReaders(), this.#timeouts.checkMs).unref()
    this.#running = { server, table, host, port: bound, secure, url, serving, report, readers }
    return { port: bound, url }
  }

  /** Takes over a listening port and its connections. */
  #goOn(running: Running, tls: TlsMaterial | undefined): { port: number; url: string } {
    const { name, log } = this.#options
    Object.assign(running.serving, { name, handlers: this.#options, log })
    this.#running = running
    if (tls !== undefined) this.secure(tls)
    return { port: running.port, url: running.url }
  }

  /**
   * Leaves the open port to its next owner, through the kept ports; connections stay open. This server handles the
   * requests until the next owner takes the port.
   * @returns false: the port is closed, or there are no kept ports
   */
  letGo(): boolean {
    const { kept } = this.#options
    if (this.#running === undefined || kept === undefined) return false
    kept.keep(this.#running)
    this.#running = undefined
    return true
  }

  /**
   * Sets the certificate for new connections; open connections are unaffected.
   * @throws TypeError without TLS; errors of the certificate
   */
  secure(tls: TlsMaterial): void {
    const server = this.#running?.server
    if (!(server instanceof HttpsServer)) throw new TypeError('the port does not speak TLS')
    server.setSecureContext({ ...tls })
  }

  /**
   * Stops accepting connections, waits up to `deadlineMs` for requests under way, then closes the rest, including
   * WebSockets. A client that is about to reuse its connection gets an answer with `Connection: close` (RFC 9112,
   * section 9.6). Does nothing if the port is closed.
   */
  async stop(deadlineMs: number): Promise<void> {
    if (this.#running === undefined) return
    const { server, table, report, readers, serving } = this.#running
    this.#running = undefined
    clearInterval(report)
    clearInterval(readers)
    serving.isEnding = true
    const closed = stopAccepting(server)
    for (const connection of [...table]) {
      if (busy(connection)) sayGoodbye(connection.response)
      else if (performance.now() - connection.since > unusedMs) connection.socket.destroySoon()
    }
    await within(Math.min(goodbyeMs, deadlineMs), closed)
    server.close()
    // Waits for requests under way, then for connections that are still closing.
    const work = [this.#options.idle?.() ?? Promise.resolve()]
    for (const connection of [...table]) {
      if (busy(connection)) work.push(ended(connection))
      else connection.socket.destroySoon()
    }
    await within(deadlineMs, Promise.all(work))
    await within(flushMs, closed)
    for (const { transport } of table) transport.destroy()
    await closed
  }

  get #timeouts(): ConnectionTimeouts {
    return { ...connectionTimeouts, ...this.#options.timeouts }
  }

  #serverOptions(): ServerOptions {
    const { headersMs, requestMs, checkMs, keepAliveMs } = this.#timeouts
    return {
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: checkMs,
      keepAliveTimeout: keepAliveMs,
      maxHeaderSize: this.#options.maxHeaderSize,
      // Prevents Node from answering requests without Host by itself.
      requireHostHeader: false,
    }
  }

  /** Tracks every connection from its first byte to its end. */
  #watch(server: Server, table: ConnectionTable, serving: Serving, tls: TlsFor): void {
    const known = new WeakMap<Socket, Connection>()
    /**
     * Connections with an unfinished TLS handshake, by `ends`, because Node does not expose the transport of a TLS
     * socket.
     */
    const handshakes = new Map<string, Connection>()
    server.on('connection', (transport: Socket) => {
      transport.on('error', ignoreError)
      const connection = table.admit(transport)
      if (connection === undefined) {
        transport.destroy()
        return
      }
      const key = tls === 'nobody' ? '' : ends(transport)
      if (tls !== 'nobody') handshakes.set(key, connection)
      if (tls !== 'everybody') known.set(transport, connection)
      transport.once('close', () => {
        table.remove(connection)
        if (handshakes.get(key) === connection) handshakes.delete(key)
      })
    })
    server.on('secureConnection', (socket: Socket) => {
      socket.on('error', ignoreError)
      const connection = handshakes.get(ends(socket))
      if (connection === undefined) return
      handshakes.delete(ends(socket))
      connection.socket = socket
      known.set(socket, connection)
    })
    const { proof, name } = this.#options
    const refused = new RefusedProofs(serving)
    guard(server, serving, {
      seen: (request, response) => {
        const claimed = proof === undefined ? undefined : checkPassedOn(request, name, proof)
        const forControllers = tls === 'controllers' && request.socket instanceof TLSSocket
        const passedOn = forControllers ? (claimed ?? 'malformed') : claimed
        const connection = known.get(request.socket)
        if (passedOn === 'proven' && connection !== undefined) table.carriesOthers(connection)
        if (connection !== undefined) table.requested(connection, request, response)
        if (serving.isEnding) sayGoodbye(response)
        if (passedOn === undefined || passedOn === 'proven') return true
        refused.note(passedOn, request.socket.remoteAddress ?? '')
        if (response === undefined) refuseSocket(request.socket, '421 Misdirected Request')
        else refuseAsNotLeader(request, response)
        return false
      },
    })
  }
}

/** Interval of log lines about invalid proofs, in milliseconds. */
const refusedProofMs = 10_000

/** Logs refused requests of other controllers, at most one line every ten seconds. */
class RefusedProofs {
  readonly #serving: Serving
  #at = Number.NEGATIVE_INFINITY

  constructor(serving: Serving) {
    this.#serving = serving
  }

  note(problem: ProofProblem, from: string): void {
    const now = performance.now()
    if (now - this.#at < refusedProofMs) return
    this.#at = now
    const { log, name } = this.#serving
    const advice = problem === 'time' ? ': are the clocks of both machines right (NTP)?' : ''
    log.warn({ listener: name, from, problem }, `request of another controller refused${advice}`)
  }
}

function reportFull({ counts, size }: ConnectionTable, { name, log }: Serving): void {
  const { ended: endedNow, refused } = counts
  if (endedNow === 0 && refused === 0) return
  counts.ended = 0
  counts.refused = 0
  log.warn(
    { listener: name, connections: size, ended: endedNow, refused },
    'too many connections: idle ones ended for new ones, or new ones were refused',
  )
}

function listen(server: Server, name: string, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error) => reject(listenError(error, name, host, port))
    server.once('error', failed)
    server.listen({ host, port, backlog: 1024 }, () => {
      server.off('error', failed)
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  })
}

/** Returns a key for both ends of a connection, unique among open connections. */
function ends({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`
}

/** Marks an answer as the last answer of its connection. */
function sayGoodbye(response: ServerResponse | undefined): void {
  if (response?.headersSent === false) response.setHeader('connection', 'close')
}

/** Resolves when the current answer is sent, or its connection is closed. */
function ended({ response, transport }: Connection): Promise<void> {
  return new Promise((resolve) => {
    response?.once('close', () => resolve())
    transport.once('close', () => resolve())
  })
}

/** Resolves when the work is done, or after the delay. */
async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds)
  })
  await Promise.race([work, late])
  clearTimeout(timer)
}
