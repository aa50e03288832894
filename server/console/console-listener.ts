import { sleep } from '../../shared/sleep.ts'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import Router from '@koa/router'
import Koa, { type Context, type Next } from 'koa'
import { z } from 'zod'
import { type ConsoleRight, type ConsoleRoute, consoleRoutes } from '../../shared/authorization/console-routes.ts'
import { type Refusal, refusal } from '../../shared/refusals/refusal.ts'
import { splitRoute } from '../../shared/authorization/route.ts'
import { ApiError } from '../../shared/result-codes.ts'
import { isClientGone } from '../../shared/client-gone.ts'
import { clientAddress } from '../edge/client-address.ts'
import { announcedLength, answerUnread } from '../edge/unread-body.ts'
import { type PortHandlers, refuse } from '../edge/guards.ts'
import { type Gated, proven, type UnprovenReason, unproven } from '../gate/gate.ts'
import { cutAtEnd, type PageLeadership } from '../gate/page.ts'
import type { KeptPorts } from '../edge/kept-ports.ts'
import { connectionLimits } from '../edge/limits.ts'
import { answerProofHeader, provenRequest, refuseAsNotLeader } from '../edge/passed-on.ts'
import type { RequestProof } from '../edge/request-proof.ts'
import { EdgeServer } from '../edge/server.ts'
import type { StaticFiles } from '../edge/static-files.ts'
import { certificateToTrust, type TlsMaterial } from '../edge/tls.ts'
import type { GatedPlayback } from '../recordings/playback/playback-handler.ts'
import { sendWebResponse, webRequest } from '../recordings/playback/web-exchange.ts'
import type { JoiningController } from '../store/election/site-member.ts'
import type { Caller } from './callers.ts'
import { describeProcedures } from './describe-procedures.ts'
import { fail, refused, statusOf } from './console-answer.ts'
import { ConsoleSockets } from './console-socket.ts'
import type { GatedDispatch } from './dispatch.ts'
import type { EventHub } from './event-hub.ts'
import { Entrance, type EntranceDependencies } from './entrance.ts'
import { JsonBodyError, readJson } from './json-body.ts'
import { isCallOfController, wantsEvents } from './passed-on-calls.ts'
import { type ConsoleNames, isOwnRequest, isSecure, sessionCookie } from './request-origin.ts'

/** Dependencies of the console port. */
export interface ConsoleListenerOptions extends EntranceDependencies, ConsoleNames {
  dispatch: GatedDispatch
  /** Asked before each route that reads the state. */
  leadership: PageLeadership<unknown>
  hub: EventHub
  page: StaticFiles
  /** Plays recordings; left out: this controller has none. */
  recordings?: GatedPlayback | undefined
  /** Why it plays none; left out: there is nothing. */
  noRecordings?: () => Refusal
  /** Certificate of before TLS was switched off, as far as it was before this process; left out: none. */
  formerTls?: () => Promise<TlsMaterial | undefined>
  /** Prometheus text. */
  metrics: () => Promise<string>
  /** Whether metrics are served only with a token. */
  metricsNeedToken: () => boolean
  /** @param known for somebody who has signed in, or another controller @param byLeader another controller asks, which only a leader does that cannot reach the database */
  health: (known: boolean, byLeader: boolean) => { ok: boolean; body: Record<string, unknown> }
  /** See EdgeServerOptions. */
  proof?: RequestProof | undefined
  kept?: KeptPorts | undefined
  /** Registers a joining controller with the leader: see SiteMember. */
  register?: ((joiner: JoiningController) => boolean) | undefined
}

/** Routes with this right. */
type RouteWith<R extends ConsoleRight> = {
  [N in ConsoleRoute]: (typeof consoleRoutes)[N] extends R ? N : never
}[ConsoleRoute]
type HttpRoute = Exclude<ConsoleRoute, RouteWith<'session'>>
/** Routes of callers who send a body. */
type CallRoute = Extract<RouteWith<'caller'>, `POST ${string}`>
/**
 * The code of each route, which is handed the caller where its right wants one, and then also the body: reading it takes as long as its sender likes, so the caller is judged again
 * after it.
 */
type ConsoleHandlers = {
  readonly [R in HttpRoute]: R extends CallRoute
    ? (context: Context, caller: Caller, body: unknown) => Promise<void> | void
    : R extends RouteWith<'caller'>
      ? (context: Context, caller: Caller) => Promise<void> | void
      : (context: Context) => Promise<void> | void
}

/** Whether each route reads the state of the site, and so needs the proof that this controller leads. A route without an entry does not compile. */
const proofs: Readonly<Record<HttpRoute, 'proven' | UnprovenReason>> = {
  'GET /healthz': 'this process',
  'GET /metrics': 'this process',
  'GET /certificate': 'no state',
  'GET /certificate/roomdesk.crt': 'no state',
  'GET /session': 'proven',
  'POST /session': 'proven',
  'POST /tickets': 'proven',
  'DELETE /session': 'proven',
  'GET /rpc': 'no state',
  // One procedure is answered without: who leads.
  'POST /rpc/:procedure': 'gated inside',
  'POST /controllers': 'between controllers',
  'GET /recordings/segments/:id': 'proven',
  'GET /recordings/segments/:id/:view': 'proven',
  'GET /recordings/exports/:id': 'proven',
  'GET /*': 'no state',
}

/** Maximum body of an authenticated call, in bytes: a CSV import fits. */
const maxBody = 8 * 1024 * 1024
/** Maximum body of a sign-in, in bytes: the key, or a name and a password. */
const maxSignInBody = 4 * 1024
/** Maximum body of each route that needs a caller, in bytes. */
const maxBodyBytes: Readonly<Record<CallRoute, number>> = {
  'POST /rpc/:procedure': maxBody,
  'POST /tickets': maxSignInBody,
}
/** Size of a controller's registration, with its certificates, in bytes. */
const maxRegistration = 128 * 1024
/** Path of the WebSocket, which needs a session and the origin of the page. */
const { path: consoleSocketPath } = splitRoute('GET /ws' satisfies RouteWith<'session'>)
/** Close code for consoles whose server restarts (IANA's registry of WebSocket close codes). */
const serviceRestart = 1012
/** Milliseconds that an answer under way is given. */
const answerMs = 300
/** Permissions of the page: its own origin only. Not every browser takes `'self'` for the WebSocket of an IP address. */
const contentSecurityPolicy = (host: string, secure: boolean) =>
  `default-src 'self'; connect-src 'self' ${secure ? 'wss' : 'ws'}://${host}; img-src 'self' blob: data:; media-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** The headless console's port: the page, its session, the WebSocket, `/rpc`, `/healthz` and `/metrics`. */
export class ConsoleListener {
  readonly #options: ConsoleListenerOptions
  readonly #entrance: Entrance
  readonly #sockets: ConsoleSockets
  readonly #server: EdgeServer
  /** Last certificate of this port: pages that were opened at https stay there while it speaks plain HTTP. */
  #shown: TlsMaterial | undefined

  /** Names by which people open the console: pages that stay at https may have come by one of the last certificate. */
  readonly #names: ConsoleNames

  constructor(options: ConsoleListenerOptions) {
    this.#options = options
    const { publicUrl, certificate } = options
    this.#names = { publicUrl, certificate: () => certificate() ?? this.#shown }
    this.#entrance = new Entrance(options)
    this.#sockets = new ConsoleSockets(options.dispatch, options.hub, options.logger)
    this.#server = new EdgeServer({
      name: 'console',
      log: options.logger,
      limits: connectionLimits.console,
      // A restore or an import may take its time.
      timeouts: { requestMs: 60_000, stallMs: 120_000 },
      maxHeaderSize: 16 * 1024,
      proof: options.proof,
      kept: options.kept,
      wantsBody: (request) => this.#wantsBody(request),
      request: unproven('gated inside', this.#app().callback()),
      upgrade: this.#upgrade(),
    })
  }

  /** The WebSocket of consoles, and of replicas that listen for their pages. */
  #upgrade(): NonNullable<PortHandlers['upgrade']> {
    return proven(
      this.#options.leadership,
      (_view, request: IncomingMessage, socket: Duplex, head: Buffer): void => {
        const [path] = (request.url ?? '').split('?', 1)
        if (path === '/ws' && wantsEvents(request) && this.#leads)
          return this.#sockets.accept(request, socket, head, () => listeningController, '', 'listens')
        const caller = (): Caller | undefined => this.#entrance.sessionOf(request)
        const own =
          path === consoleSocketPath && isOwnRequest(request, this.#names) && provenRequest(request) === undefined
        const allowed = own && caller() !== undefined
        if (allowed) this.#sockets.accept(request, socket, head, caller, sessionCookie(request))
        else refuse(socket, '401 Unauthorized')
      },
      (_error, [, socket]) => refuse(socket, '503 Service Unavailable'),
    )
  }

  /** URL at which it listens; empty when it does not. */
  get url(): string {
    return this.#server.url
  }

  /** Open connections. */
  connections(): number {
    return this.#server.connections
  }

  /** @throws ListenError */
  async start(host: string, port: number, tls: TlsMaterial | undefined): Promise<void> {
    this.#shown = tls ?? this.#shown ?? (await this.#options.formerTls?.())
    await this.#server.start({ host, port, tls, formerTls: tls === undefined ? this.#shown : undefined })
  }

  /** Makes consoles reconnect and load everything anew. */
  restartConsoles(): void {
    for (const socket of this.#sockets.connected()) socket.close(serviceRestart)
  }

  /** Leaves the port to its next owner, as this program takes another role: consoles come back and find it. */
  letGo(): boolean {
    this.restartConsoles()
    return this.#server.letGo()
  }

  /** New connections are given this certificate; those that are open go on. */
  async secure(tls: TlsMaterial): Promise<void> {
    this.#shown = tls
    this.#server.secure(tls)
  }

  /** Consoles whose session has ended must sign in again; one that is waiting for an answer gets it first. */
  reviewSessions(): void {
    this.#sockets.review()
  }

  /**
   * Stops accepting. Connections stay a little longer: the call that moves this port travels on one of them, and its answer must
   * arrive; then they are cut off and come back where the console is by then.
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

  #app(): Koa {
    const app = new Koa()
    app.on('error', (error: Error & { expose?: boolean }) => {
      if (error.expose !== true && !isClientGone(error)) {
        this.#options.logger.error({ err: error }, 'the console port failed on a request')
      }
    })
    app.use((context, next) => {
      if (provenRequest(context.req) === undefined || isCallOfController(context.req, this.#leads)) return next()
      context.respond = false
      refuseAsNotLeader(context.req, context.res)
    })
    app.use((context, next) => this.#proveAnswer(context, next))
    app.use(endUnread)
    app.use(async (context, next): Promise<void> => {
      context.set('X-Content-Type-Options', 'nosniff')
      context.set('Referrer-Policy', 'no-referrer')
      // Load balancers ask for the health without a Host (HAProxy), or by the name that clients use.
      if (isOwnRequest(context.req, this.#names) || context.path === '/healthz') return void (await next())
      context.status = 403
      context.body = refused(refusal('otherHost'))
    })
    const router = this.#routes()
    app.use(router.routes())
    app.use(this.#gate('GET /*'))
    return app
  }

  /** Code of every route; who may use it was judged. */
  readonly #handlers: ConsoleHandlers = {
    'GET /healthz': (context) => {
      const shows = context.get('Authorization') !== ''
      if (shows && this.#entrance.authorised(context) === undefined) return
      const byLeader = provenRequest(context.req) !== undefined
      const known = byLeader || this.#entrance.callerOf(context.req) !== undefined
      const { ok, body } = this.#options.health(known, byLeader)
      context.status = ok ? 200 : 503
      context.body = body
      context.set('Cache-Control', 'no-store')
    },
    'GET /metrics': async (context) => {
      context.type = 'text/plain; version=0.0.4; charset=utf-8'
      context.body = await this.#options.metrics()
    },
    'GET /certificate': (context) => {
      const material = this.#options.certificate()
      context.set('Cache-Control', 'no-store')
      if (material === undefined) {
        // Nothing is wrong: the sign-in page offers no certificate then.
        context.status = 204
        return
      }
      const { subject, fingerprint, expires_at } = certificateToTrust(material)
      context.body = { subject, fingerprint, expires_at }
    },
    'GET /certificate/roomdesk.crt': (context) => {
      const material = this.#options.certificate()
      if (material === undefined) return fail(context, refusal('noCertificate'))
      context.set('Content-Disposition', 'attachment; filename="roomdesk.crt"')
      context.type = 'application/x-x509-ca-cert'
      context.body = certificateToTrust(material).der
    },
    'GET /session': (context) => this.#entrance.tell(context),
    'POST /session': async (context) => {
      const body = await readJson(context.req, maxSignInBody).catch(toProblem)
      await this.#entrance.signIn(context, body)
    },
    'DELETE /session': async (context) => {
      await this.#entrance.signOut(context)
      this.#sockets.review()
    },
    'GET /rpc': (context) => {
      context.body = describeProcedures()
    },
    'POST /rpc/:procedure': (context, caller, body) => this.#call(context, caller, body),
    'POST /controllers': (context) => this.#register(context),
    'POST /tickets': (context, _caller, body) => this.#entrance.issueTicket(context, body),
    'GET /recordings/segments/:id': (context, caller) => this.#play(context, caller),
    'GET /recordings/segments/:id/:view': (context, caller) => this.#play(context, caller),
    'GET /recordings/exports/:id': (context, caller) => this.#play(context, caller),
    'GET /*': (context) => this.#servePage(context),
  }

  #routes(): Router {
    const router = new Router()
    const add = <R extends HttpRoute>(route: R): void => {
      const { method, path } = splitRoute(route)
      router.register(path, [method], this.#gate(route))
    }
    for (const route of Object.keys(this.#handlers)) if (route !== 'GET /*') add(route as HttpRoute)
    return router
  }

  /** Answers a route once it is proven, where it has to be. */
  #gate<R extends HttpRoute>(route: R): Gated<(context: Context) => Promise<void> | void> {
    const proof: 'proven' | UnprovenReason = proofs[route]
    const judged = (context: Context): Promise<void> | void => this.#judged(route, context)
    if (proof !== 'proven') return unproven(proof, judged)
    const refused = (error: unknown, [context]: [Context]): void => {
      context.set('Retry-After', '1')
      fail(context, refusal(error instanceof ApiError ? 'leaderUnconfirmed' : 'leaderChanged'))
    }
    return proven(this.#options.leadership, (_view, context: Context) => judged(context), refused)
  }

  /** Runs a route for those who may use it; answers everybody else. */
  #judged<R extends HttpRoute>(route: R, context: Context): Promise<void> | void {
    const right: Exclude<ConsoleRight, 'session'> = consoleRoutes[route]
    const run = (caller?: Caller, body?: unknown): Promise<void> | void =>
      // Only routes of callers take one, and these are given one: the compiler cannot follow that through the index.
      (this.#handlers[route] as (context: Context, caller?: Caller, body?: unknown) => Promise<void> | void)(
        context,
        caller,
        body,
      )
    if (right === 'anyone' || (right === 'scraper' && !this.#options.metricsNeedToken())) return run()
    if (right === 'controller') {
      if (provenRequest(context.req) !== undefined) return run()
      return fail(context, refusal('nothingHere'))
    }
    const caller = this.#entrance.authorised(context)
    if (caller === undefined) return
    return isCallRoute(route) ? afterBody(route, context, this.#entrance, run) : run(caller)
  }

  /** Another controller of the site has joined. */
  async #register(context: Context): Promise<void> {
    const { register } = this.#options
    if (register === undefined) return fail(context, refusal('nothingHere'))
    const body = await readJson(context.req, maxRegistration).catch(toProblem)
    const joiner = joiningControllerSchema.safeParse(body)
    context.status = joiner.success && register(joiner.data) ? 204 : 421
  }

  /** Whether this controller leads a site of several. */
  get #leads(): boolean {
    return this.#options.register !== undefined
  }

  /** Another controller believes an answer only with its proof. */
  async #proveAnswer(context: Context, next: Next): Promise<void> {
    await next()
    const sent = provenRequest(context.req)
    const { proof } = this.#options
    if (sent?.client !== '' || proof === undefined || context.respond === false) return
    const { body } = context
    const text = body === undefined || body === null ? '' : typeof body === 'string' ? body : JSON.stringify(body)
    const { status, type } = context
    context.set(answerProofHeader, proof.answerFor(sent.nonce, status, text))
    if (text !== '') Object.assign(context, { body: text, type })
    context.status = status
  }

  async #call(context: Context, caller: Caller, body: unknown): Promise<void> {
    const name = context.path.slice('/rpc/'.length)
    const origin = { transport: 'rpc', client: clientAddress(context.req), ...caller } as const
    const result = await this.#options.dispatch(name, body, origin)
    context.status = result.ok ? 200 : statusOf[result.error.code]
    context.set('Cache-Control', 'no-store')
    context.body = result
  }

  async #play(context: Context, caller: Caller): Promise<void> {
    const { recordings, noRecordings = () => refusal('nothingHere') } = this.#options
    if (recordings === undefined) return fail(context, noRecordings())
    const { role, account = '', accountId = '', scopes } = caller
    const scoped = scopes?.some((scope: string) => scope === 'recordings:read') ?? true
    cutAtEnd(this.#options.leadership, context.res)
    const answer = await recordings(webRequest(context.req, context.res), {
      ...{ role, account, accountId, scoped },
      address: clientAddress(context.req),
    })
    context.respond = false
    try {
      await sendWebResponse(answer, context.res)
    } catch (error) {
      // The head is sent: the client sees that the body ends early.
      if (!isClientGone(error)) this.#options.logger.warn({ err: error }, 'cannot send a recording')
      context.res.destroy()
    }
  }

  /** A stranger's body is not asked for, except where it holds what shows who they are: the refusal comes first. */
  #wantsBody(request: IncomingMessage): boolean {
    if (!isOwnRequest(request, this.#names)) return false
    const length = announcedLength(request)
    const [path] = (request.url ?? '').split('?', 1)
    if (path === '/session') return length <= maxSignInBody
    return length <= maxBody && this.#entrance.callerOf(request) !== undefined
  }

  async #servePage(context: Context): Promise<void> {
    if (context.method !== 'GET' && context.method !== 'HEAD') return fail(context, refusal('nothingHere'))
    const file = await this.#options.page.file(context.path)
    if (file === undefined) return fail(context, refusal('nothingHere'))
    context.set('Content-Security-Policy', contentSecurityPolicy(context.host, isSecure(context.req)))
    context.set('Cache-Control', file.immutable ? 'public, max-age=31536000, immutable' : 'no-cache')
    context.type = file.type
    context.body = file.body
  }
}

function isCallRoute(route: HttpRoute): route is CallRoute {
  return route in maxBodyBytes
}

/** Reads the body of somebody who may use a route, and judges them again: the key, session or token may have ended while the body came. */
async function afterBody(
  route: CallRoute,
  context: Context,
  entrance: Pick<Entrance, 'authorised'>,
  run: (caller: Caller, body: unknown) => Promise<void> | void,
): Promise<void> {
  const body = await readJson(context.req, maxBodyBytes[route]).catch(toProblem)
  if (body instanceof JsonBodyError) return fail(context, body.refusal)
  const caller = entrance.authorised(context)
  if (caller !== undefined) await run(caller, body)
}

/** A replica that listens for its pages. */
const listeningController: Caller = { role: 'admin', way: 'key' }

const joiningControllerSchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  version: z.string(),
  place: z.strictObject({
    media: z.string(),
    device: z.string(),
    node: z.string(),
    console: z.string(),
    event: z.string(),
    certificate: z.string(),
  }),
})

/** Refusals of a body are answers; any other error is unexpected. */
function toProblem(error: unknown): JsonBodyError {
  if (error instanceof JsonBodyError) return error
  throw error
}

/** A refusal that came before the end of the body: the body is not kept, and the connection ends with the answer. */
async function endUnread(context: Context, next: Next): Promise<void> {
  await next()
  const { complete, headers } = context.req
  const announced = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
  if (complete || !announced || context.res.headersSent) return
  const { body } = context
  const text = Buffer.isBuffer(body) || typeof body === 'string' ? body : JSON.stringify(body ?? '')
  context.respond = false
  for (const [name, value] of Object.entries(context.response.headers)) {
    if (value !== undefined) context.res.setHeader(name, value)
  }
  answerUnread(context.req, context.res, context.status, text)
}
