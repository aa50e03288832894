import type { IncomingMessage } from 'node:http'
import { Router } from '@koa/router'
import Koa from 'koa'
import { apiPages, type HeldPage, type MountedPage } from '../../shared/authorization/api-pages.ts'
import { splitRoute } from '../../shared/authorization/route.ts'
import { isClientGone } from '../../shared/client-gone.ts'
import type { OperationContract } from '../../shared/operation.ts'
import type { ApiName } from '../../shared/result-codes.ts'
import type { Settings } from '../../shared/settings.ts'
import type { Sessions } from '../access/sessions.ts'
import type { HolderPage } from '../capabilities/holder-pages.ts'
import { connectionLimits, type ConnectionLimits, type ConnectionTimeouts } from '../edge/limits.ts'
import type { KeptPorts } from '../edge/kept-ports.ts'
import type { RequestProof } from '../edge/request-proof.ts'
import { EdgeServer, type ListenAddress } from '../edge/server.ts'
import { announcedLength } from '../edge/unread-body.ts'
import { type Gated, unproven } from '../gate/gate.ts'
import type { Log } from '../observe/log.ts'
import type { RequestObserver } from '../observe/observation.ts'
import type { Leadership } from '../store/store.ts'
import { AnswerWriter } from './answer.ts'
import { malformedAnswers } from './malformed.ts'
import type { TlsMaterial } from '../edge/tls.ts'
import type { AnyOperation } from './operation.ts'
import type { Compatibility } from './routes.ts'
import type { OperationCauses } from './exchange.ts'
import { type PassToLeader, RequestHandler, type RunnerDecorator } from './request-handler.ts'

export interface ListenerOptions {
  api: ApiName
  operations: readonly AnyOperation[]
  /** Operations of older clients; undefined: clients of the original platform are not treated differently. */
  compatibility?: Compatibility
  sessions: Pick<Sessions, 'check'>
  /** Returns the settings. Called per request, so that new CORS origins apply at once. */
  settings: () => Settings
  causes: OperationCauses
  /** See HandlerDependencies. */
  leadership: Pick<Leadership, 'confirmed'>
  passToLeader?: PassToLeader | undefined
  observer: RequestObserver
  /** Returns the text of `GET /openapi.json` for these operations. */
  openApiDocument: (contracts: readonly OperationContract[]) => string
  log: Log
  /**
   * Koa middleware of further pages. This port serves only pages in its table of rights. Pages for holders of
   * capabilities check the token themselves.
   */
  mounts?: Readonly<Partial<{ [P in MountedPage]: P extends HeldPage ? HolderPage : Gated<Koa.Middleware> }>>
  timeouts?: Partial<ConnectionTimeouts>
  limits?: ConnectionLimits
  /** See EdgeServerOptions. */
  proof?: RequestProof | undefined
  kept?: KeptPorts | undefined
}

/** One of the two API listeners. */
export interface Listener {
  /** @throws PortInUseError, ListenError */
  start(address: ListenAddress): Promise<{ port: number; url: string }>
  /**
   * Stops accepting connections, finishes requests under way within `deadlineMs`, and closes the other connections.
   * Does nothing while the port is closed.
   */
  stop(deadlineMs: number): Promise<void>
  /** Leaves the port to its next owner; see EdgeServer. */
  letGo(): boolean
  /** See RequestHandler. */
  decorate(decorator: RunnerDecorator | undefined): void
  /** Sets the certificate for new connections; open connections are unaffected. */
  secure(tls: TlsMaterial): void
  /** URL, e.g. `http://127.0.0.1:7080`; empty: the port is closed. */
  readonly url: string
  readonly connections: number
}

/** Maximum size of request target and headers together, in bytes; a target has at most 8 KiB. */
export const maxApiHeaderSize = 20 * 1024

/**
 * Maximum size of a body that is requested with 100-continue, in bytes. A body above the API's limit is read and
 * discarded, so that its sender can receive the answer.
 */
const maxAwaitedBody = 1024 * 1024

/** Whether the body of an API request with `Expect: 100-continue` is requested. */
export function wantsApiBody(request: IncomingMessage): boolean {
  return announcedLength(request) <= maxAwaitedBody
}

/** Creates a listener; it can be started again after a stop. */
export function createListener(options: ListenerOptions): Listener {
  const answers = new AnswerWriter(() => options.settings().cors_origins)
  const handler = new RequestHandler({ ...options, answers })
  const pages = createApp(options, handler, answers).callback()
  const server = new EdgeServer({
    ...malformedAnswers(handler),
    name: options.api,
    log: options.log,
    limits: options.limits ?? connectionLimits.api,
    timeouts: options.timeouts,
    maxHeaderSize: maxApiHeaderSize,
    wantsBody: wantsApiBody,
    proof: options.proof,
    kept: options.kept,
    request: unproven('gated inside', (request, response) => {
      const target = request.url ?? '/'
      if (handler.takes(target)) handler.handle(request, response, target)
      else return pages(request, response)
    }),
    badTarget: (request, response) => handler.funnel.refuseTarget(request, response),
    failed: (request, response) => handler.funnel.answerUnexpected(request, response),
    idle: () => handler.idle(),
  })
  return {
    async start(address) {
      answers.stopping = false
      return await server.start(address)
    },
    async stop(deadlineMs) {
      if (server.url === '') return
      answers.stopping = true
      await server.stop(deadlineMs)
    },
    letGo: () => server.letGo(),
    decorate: (decorator) => handler.decorate(decorator),
    secure: (tls) => server.secure(tls),
    get url() {
      return server.url
    },
    get connections() {
      return server.connections
    },
  }
}

/**
 * Serves everything except operations: pages, the API's description, and unknown paths. Operations are looked up first,
 * by exact path in a Map. The router would try one pattern after another, and Koa's context and listeners would reduce
 * the rate of operations by a twentieth.
 */
function createApp(options: ListenerOptions, handler: RequestHandler, answers: AnswerWriter): Koa {
  const app = new Koa()
  app.on('error', (error: unknown) => {
    if (!isClientGone(error)) options.log.error({ err: error, api: options.api }, 'a response failed')
  })
  app.use(async (context, next) => {
    try {
      await next()
    } catch (error) {
      context.respond = false
      handler.funnel.refuseUnexpected(context.req, context.res, error)
    }
  })
  const router = new Router()
  const { path: documentPath } = splitRoute('GET /openapi.json' satisfies keyof (typeof apiPages)[ApiName])
  router.get(documentPath, (context, next) => {
    if (context.method !== 'GET') return next()
    context.set({ 'cache-control': 'no-store', ...answers.corsHeaders(context.req) })
    context.type = 'application/json; charset=utf-8'
    context.body = options.openApiDocument(handler.contracts)
  })
  app.use(router.routes())
  for (const page of Object.keys(apiPages[options.api])) {
    const mount = options.mounts?.[page as MountedPage]
    if (mount !== undefined) app.use(mount)
  }
  app.use((context) => {
    context.respond = false
    handler.handle(context.req, context.res, context.req.url ?? '/')
  })
  return app
}
