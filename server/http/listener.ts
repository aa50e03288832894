import { createServer as createHttpServer, type Server, type ServerOptions } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { isIPv6 } from 'node:net'
import { Router } from '@koa/router'
import Koa from 'koa'
import { limits } from '../../shared/limits.ts'
import type { ApiName } from '../../shared/result-codes.ts'
import type { Settings } from '../../shared/settings.ts'
import type { Sessions } from '../access/sessions.ts'
import type { FaultRules } from '../lab/faults.ts'
import type { Log } from '../observe/log.ts'
import type { RequestObserver } from '../observe/observation.ts'
import { AnswerWriter } from './answer.ts'
import { Connections } from './connections.ts'
import { listenError } from '../edge/listen-error.ts'
import { answerMalformed } from './malformed.ts'
import type { AnyOperation } from './operation.ts'
import { RequestHandler } from './request-handler.ts'

/** Bounds against slow and idle clients, in milliseconds. */
export interface ListenerTimeouts {
  /** From the first byte of a request to the end of its head. */
  headersMs: number
  /** To the end of its body. */
  requestMs: number
  /** Between two looks at these two. */
  checkMs: number
  /** Between two requests of one connection. */
  keepAliveMs: number
}

/** What a listener is made of. */
export interface ListenerOptions {
  api: ApiName
  operations: readonly AnyOperation[]
  sessions: Pick<Sessions, 'check'>
  /** Asked per request: CORS applies at once. */
  settings: () => Settings
  faults: FaultRules
  observer: RequestObserver
  /** The text of `GET /openapi.json`. */
  openApiDocument: () => string
  log: Log
  /** Koa middleware for paths that no operation has, tried in order; what none of them answers does not exist. */
  mounts?: readonly Koa.Middleware[]
  timeouts?: Partial<ListenerTimeouts>
  /** Most connections at a time; further ones are closed at once. */
  maxConnections?: number
}

/** Where to listen. */
export interface ListenAddress {
  host: string
  /** 0 picks a free one. */
  port: number
  /** PEM texts; left out: plain HTTP. */
  tls?: { cert: string; key: string } | undefined
}

/** One of the two API listeners. */
export interface Listener {
  /** @throws PortInUseError, ListenError */
  start(address: ListenAddress): Promise<{ port: number; url: string }>
  /** Accepts nothing more, finishes what is in flight within `deadlineMs`, cuts the rest. Nothing happens when it does not listen. */
  stop(deadlineMs: number): Promise<void>
  /** e.g. `http://127.0.0.1:7080`; empty when it does not listen. */
  readonly url: string
  /** Open connections. */
  readonly connections: number
}

/** Room for a request target of 8 KiB and as much for the headers. */
const maxHeaderSize = 20 * 1024

/** Makes a listener; it can be started again after a stop. */
export function createListener(options: ListenerOptions): Listener {
  const answers = new AnswerWriter(options.api, () => options.settings().cors_origins)
  const handler = new RequestHandler({ ...options, answers })
  const callback = createApp(options, handler, answers).callback()
  let running: { server: Server; connections: Connections; url: string } | undefined

  return {
    async start({ host, port, tls }) {
      if (running !== undefined) throw new TypeError('the listener listens already')
      answers.stopping = false
      const settings = serverOptions({
        headersMs: 10_000,
        requestMs: 30_000,
        checkMs: 1_000,
        keepAliveMs: 10_000,
        ...options.timeouts,
      })
      const server: Server =
        tls === undefined
          ? createHttpServer(settings)
          : createHttpsServer({ ...settings, cert: tls.cert, key: tls.key, handshakeTimeout: 10_000 })
      server.maxConnections = options.maxConnections ?? 10_000
      server.on('request', callback)
      // Node's own answers to these two would not be HTTP 200 or would ask for a body that is too long.
      server.on('checkExpectation', callback)
      server.on('checkContinue', (request, response) => {
        if (Number(request.headers['content-length'] ?? 0) <= 1024 * 1024) response.writeContinue()
        server.emit('request', request, response)
      })
      answerMalformed(server, handler)
      const connections = new Connections(server, handler)
      const bound = await listen(server, options.api, host, port)
      server.on('error', (error) => options.log.error({ err: error, api: options.api }, 'a listener failed'))
      const url = `${tls === undefined ? 'http' : 'https'}://${reachableHost(host)}:${bound}`
      running = { server, connections, url }
      return { port: bound, url }
    },
    async stop(deadlineMs) {
      if (running === undefined) return
      const { connections } = running
      running = undefined
      answers.stopping = true
      await connections.close(deadlineMs)
    },
    get url() {
      return running?.url ?? ''
    },
    get connections() {
      return running?.connections.count ?? 0
    },
  }
}

/** Koa holds what is not an operation; operations are found by their exact path in a Map, because the router tries one pattern after another. */
function createApp(options: ListenerOptions, handler: RequestHandler, answers: AnswerWriter): Koa {
  const app = new Koa()
  app.on('error', (error: unknown) => options.log.error({ err: error, api: options.api }, 'a response failed'))
  app.use((context, next) => {
    const target = originForm(context.req.url ?? '/')
    const question = target.indexOf('?')
    if (handler.knows(question === -1 ? target : target.slice(0, question)) || target.length > limits.requestTarget) {
      context.respond = false
      handler.handle(context.req, context.res, target)
      return
    }
    return next()
  })
  app.use(async (context, next) => {
    try {
      await next()
    } catch (error) {
      context.respond = false
      handler.refuseUnforeseen(context.req, context.res, error)
    }
  })
  const router = new Router()
  router.get('/openapi.json', (context, next) => {
    if (context.method !== 'GET') return next()
    context.set({ 'cache-control': 'no-store', ...answers.corsHeaders(context.req) })
    context.type = 'application/json; charset=utf-8'
    context.body = options.openApiDocument()
  })
  app.use(router.routes())
  for (const mount of options.mounts ?? []) app.use(mount)
  app.use((context) => {
    context.respond = false
    handler.handle(context.req, context.res, originForm(context.req.url ?? '/'))
  })
  return app
}

/** A target in absolute form names its host first (RFC 9112, section 3.2.2). */
function originForm(target: string): string {
  if (target.startsWith('/')) return target
  const [, rest = target] = /^https?:\/\/[^/?#]*(.*)$/i.exec(target) ?? []
  return rest
}

function serverOptions(timeouts: ListenerTimeouts): ServerOptions {
  return {
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    connectionsCheckingInterval: timeouts.checkMs,
    keepAliveTimeout: timeouts.keepAliveMs,
    maxHeaderSize,
    // A request without Host would be answered with HTTP 400.
    requireHostHeader: false,
  }
}

function listen(server: Server, api: ApiName, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error) => reject(listenError(error, api, host, port))
    server.once('error', failed)
    server.listen({ host, port, backlog: 1024 }, () => {
      server.off('error', failed)
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  })
}

/** As a client on this machine writes the host. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return isIPv6(host) ? `[${host}]` : host
}
