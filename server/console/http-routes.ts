import Router from '@koa/router'
import Koa, { type Context, type Next } from 'koa'
import { z } from 'zod'
import { type ConsoleRight, type ConsoleRoute, consoleRoutes } from '../../shared/authorization/console-routes.ts'
import { type Refusal, refusal } from '../../shared/refusals/refusal.ts'
import { splitRoute } from '../../shared/authorization/route.ts'
import { ApiError } from '../../shared/result-codes.ts'
import { isClientGone } from '../../shared/client-gone.ts'
import { clientAddress } from '../edge/client-address.ts'
import { answerUnread } from '../edge/unread-body.ts'
import { cutAtEnd, type Gated, type PageLeadership, proven, unproven, type UnprovenReason } from '../gate/gate.ts'
import { answerProofHeader, provenRequest, refuseAsNotLeader } from '../edge/passed-on.ts'
import type { RequestProof } from '../edge/request-proof.ts'
import type { StaticFiles } from '../edge/static-files.ts'
import { certificateToTrust } from '../edge/tls.ts'
import type { GatedPlayback } from '../recordings/playback/playback-handler.ts'
import type { JoiningController } from '../store/election/site-member.ts'
import type { ConsoleCaller } from './callers.ts'
import { describeProcedures } from './describe-procedures.ts'
import { fail, refused, httpStatusOf } from './console-answer.ts'
import type { ConsoleSockets } from './console-socket.ts'
import type { GatedDispatch } from './dispatch.ts'
import type { Entrance, EntranceDependencies } from './entrance.ts'
import { JsonBodyError, readJson, sendWebResponse, webRequest } from './http-messages.ts'
import { isCallOfController } from './passed-on-calls.ts'
import { type ConsoleNames, isOwnRequest, isSecure } from './request-origin.ts'

export interface ConsoleRouteOptions extends Pick<EntranceDependencies, 'logger'>, Pick<ConsoleNames, 'certificate'> {
  dispatch: GatedDispatch
  /** Checked before each route that reads the state. */
  leadership: PageLeadership<unknown>
  page: StaticFiles
  /** Serves recordings; undefined if this controller has none. */
  recordings?: GatedPlayback | undefined
  /** Reason why it serves no recordings; undefined if there is none. */
  noRecordings?: () => Refusal
  /** Returns metrics in the Prometheus format. */
  metrics: () => Promise<string>
  /** Whether metrics are served only with a token. */
  metricsNeedToken: () => boolean
  /**
   * @param known whether the caller is authenticated or is another controller
   * @param byLeader whether the request comes from another controller: only a leader that cannot reach the database
   * sends it
   */
  health: (known: boolean, byLeader: boolean) => { ok: boolean; body: Record<string, unknown> }
  /** See EdgeServerOptions. */
  proof?: RequestProof | undefined
  /** Registers a joining controller with the leader: see SiteMember. */
  register?: ((joiner: JoiningController) => boolean) | undefined
}

/** Routes with this right. */
export type RouteWith<R extends ConsoleRight> = {
  [N in ConsoleRoute]: (typeof consoleRoutes)[N] extends R ? N : never
}[ConsoleRoute]
type HttpRoute = Exclude<ConsoleRoute, RouteWith<'session'>>
/** Routes whose callers send a body. */
type CallRoute = Extract<RouteWith<'caller'>, `POST ${string}`>
/**
 * Handlers by route. They receive the caller if the right of the route requires one, and possibly the body. Reading a
 * body may take long, so the caller is checked again after it.
 */
type ConsoleHandlers = {
  readonly [R in HttpRoute]: R extends CallRoute
    ? (context: Context, caller: ConsoleCaller, body: unknown) => Promise<void> | void
    : R extends RouteWith<'caller'>
      ? (context: Context, caller: ConsoleCaller) => Promise<void> | void
      : (context: Context) => Promise<void> | void
}

/**
 * Whether each route reads the state of the site, and therefore requires the proof that this controller is the leader.
 * A route without an entry does not compile.
 */
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
  // One procedure is answered without proof: the one that returns the leader.
  'POST /rpc/:procedure': 'gated inside',
  'POST /controllers': 'between controllers',
  'GET /recordings/segments/:id': 'proven',
  'GET /recordings/segments/:id/:view': 'proven',
  'GET /recordings/exports/:id': 'proven',
  'GET /*': 'no state',
}

/** Maximum body of an authenticated call, in bytes: a CSV import fits. */
export const maxBody = 8 * 1024 * 1024
/** Maximum body of a sign-in, in bytes: the key, or a name and a password. */
export const maxSignInBody = 4 * 1024
/** Maximum body of each route that requires a caller, in bytes. */
const maxBodyBytes: Readonly<Record<CallRoute, number>> = {
  'POST /rpc/:procedure': maxBody,
  'POST /tickets': maxSignInBody,
}
/** Maximum size of a controller's registration with its certificates, in bytes. */
const maxRegistration = 128 * 1024
/**
 * Content security policy of the page: only its own origin. Not every browser accepts `'self'` for the WebSocket of an
 * IP address.
 */
const contentSecurityPolicy = (host: string, secure: boolean) =>
  `default-src 'self'; connect-src 'self' ${secure ? 'wss' : 'ws'}://${host}; img-src 'self' blob: data:; media-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** The routes of the console port, each behind its right and the proof that it requires. */
export class ConsoleHttpRoutes {
  readonly #options: ConsoleRouteOptions
  readonly #entrance: Entrance
  readonly #names: ConsoleNames
  readonly #sockets: Pick<ConsoleSockets, 'review'>

  /** @param names host names under which the console is called @param sockets consoles whose session may end */
  constructor(
    options: ConsoleRouteOptions,
    entrance: Entrance,
    names: ConsoleNames,
    sockets: Pick<ConsoleSockets, 'review'>,
  ) {
    this.#options = options
    this.#entrance = entrance
    this.#names = names
    this.#sockets = sockets
  }

  app(): Koa {
    const app = new Koa()
    app.on('error', (error: Error & { expose?: boolean }) => {
      if (error.expose !== true && !isClientGone(error)) {
        this.#options.logger.error({ err: error }, 'the console port failed on a request')
      }
    })
    app.use((context, next) => {
      if (provenRequest(context.req) === undefined || isCallOfController(context.req, this.leads)) return next()
      context.respond = false
      refuseAsNotLeader(context.req, context.res)
    })
    app.use((context, next) => this.#proveAnswer(context, next))
    app.use(endUnread)
    app.use(async (context, next): Promise<void> => {
      context.set('X-Content-Type-Options', 'nosniff')
      context.set('Referrer-Policy', 'no-referrer')
      // Load balancers request the health without a Host header (HAProxy), or under the name that clients use.
      if (isOwnRequest(context.req, this.#names) || context.path === '/healthz') return void (await next())
      context.status = 403
      context.body = refused(refusal('otherHost'))
    })
    const router = this.#routes()
    app.use(router.routes())
    app.use(this.#gate('GET /*'))
    return app
  }

  /** Handlers of all routes; called after the right was checked. */
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
        // This is not an error: the sign-in page then offers no certificate.
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

  /** Adds the required proof to a route. */
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

  /** Runs a route for permitted callers; answers all others. */
  #judged<R extends HttpRoute>(route: R, context: Context): Promise<void> | void {
    const right: Exclude<ConsoleRight, 'session'> = consoleRoutes[route]
    const run = (caller?: ConsoleCaller, body?: unknown): Promise<void> | void =>
      // Only routes of callers have these parameters, and only they receive them. The compiler cannot derive this from
      // the index.
      (this.#handlers[route] as (context: Context, caller?: ConsoleCaller, body?: unknown) => Promise<void> | void)(
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

  /** Handles the registration of another controller of the site. */
  async #register(context: Context): Promise<void> {
    const { register } = this.#options
    if (register === undefined) return fail(context, refusal('nothingHere'))
    const body = await readJson(context.req, maxRegistration).catch(toProblem)
    const joiner = joiningControllerSchema.safeParse(body)
    context.status = joiner.success && register(joiner.data) ? 204 : 421
  }

  /** Whether this controller is the leader of a site with several controllers. */
  get leads(): boolean {
    return this.#options.register !== undefined
  }

  /** Adds a proof to a response for another controller, which rejects responses without one. */
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

  async #call(context: Context, caller: ConsoleCaller, body: unknown): Promise<void> {
    const name = context.path.slice('/rpc/'.length)
    const origin = { transport: 'rpc', client: clientAddress(context.req), ...caller } as const
    const result = await this.#options.dispatch(name, body, origin)
    context.status = result.ok ? 200 : httpStatusOf[result.error.code]
    context.set('Cache-Control', 'no-store')
    context.body = result
  }

  async #play(context: Context, caller: ConsoleCaller): Promise<void> {
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
      // The head was already sent: the client detects the truncated body.
      if (!isClientGone(error)) this.#options.logger.warn({ err: error }, 'cannot send a recording')
      context.res.destroy()
    }
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

/**
 * Reads the body of a permitted caller and then checks the caller again: the key, session or token may have ended
 * meanwhile.
 */
async function afterBody(
  route: CallRoute,
  context: Context,
  entrance: Pick<Entrance, 'authorised'>,
  run: (caller: ConsoleCaller, body: unknown) => Promise<void> | void,
): Promise<void> {
  const body = await readJson(context.req, maxBodyBytes[route]).catch(toProblem)
  if (body instanceof JsonBodyError) return fail(context, body.refusal)
  const caller = entrance.authorised(context)
  if (caller !== undefined) await run(caller, body)
}

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

/** Returns refusals of a body; rethrows any other error. */
function toProblem(error: unknown): JsonBodyError {
  if (error instanceof JsonBodyError) return error
  throw error
}

/** Discards the rest of a body after an early refusal, and closes the connection with the response. */
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
