import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import type { Duplex } from 'node:stream'
import type Router from '@koa/router'
import Koa, { type Context, type Next } from 'koa'
import { roomPagePath } from '../../../shared/media/room-page.ts'
import type { Log } from '../log.ts'
import { Problem } from '../problem.ts'
import { type MediaRouteParts, mediaRouter } from './media-routes.ts'
import { servePage } from './page-files.ts'

/** How the node's listener is made. */
export interface NodeServerOptions {
  host: string
  /** 0 picks a free one. */
  port: number
  tls: { cert: string; key: string } | undefined
  /** Folder of the room page; empty: none. */
  pageFolder: string
  parts: MediaRouteParts
  log: Log
  /** A request to become a WebSocket. */
  upgrade: (request: http.IncomingMessage, socket: Duplex, head: Buffer) => void
}

/** The node's HTTP listener. */
export interface NodeServer {
  port: number
  close(): Promise<void>
}

const exposed = 'Location, ETag, Link, Accept-Patch'

/** Starts the listener: WHIP, WHEP, the room page and the WebSocket of the signalling. */
export async function startNodeServer(options: NodeServerOptions): Promise<NodeServer> {
  const app = new Koa()
  app.on('error', (error: unknown) => options.log.error('a request failed', String(error)))
  app.use(async (context, next) => await answerProblems(context, next, options.log))
  app.use(crossOrigin)
  const router = mediaRouter(options.parts)
  app.use(router.routes())
  app.use(async (context, next) => await onlyAllowedMethods(context, next, router))
  app.use(async (context) => await others(context, options.pageFolder))
  const limits = { headersTimeout: 10_000, requestTimeout: 15_000, keepAliveTimeout: 30_000, maxHeaderSize: 16_384 }
  const handle = app.callback()
  const server =
    options.tls === undefined
      ? http.createServer(limits, (request, response) => void handle(request, response))
      : https.createServer({ ...limits, ...options.tls }, (request, response) => void handle(request, response))
  server.on('upgrade', options.upgrade)
  server.listen(options.port, options.host)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the listener has no port')
  return {
    port: address.port,
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function answerProblems(context: Context, next: Next, log: Log): Promise<void> {
  try {
    await next()
  } catch (error) {
    const problem = error instanceof Problem ? error : undefined
    if (problem === undefined)
      log.error('a request failed', error instanceof Error ? (error.stack ?? '') : String(error))
    context.status = problem?.status ?? 500
    context.body = problem?.document() ?? {
      type: 'about:blank',
      title: 'The node failed',
      status: 500,
      reason: 'failed',
    }
    context.type = 'application/problem+json'
    if (context.status === 401) context.set('WWW-Authenticate', 'Bearer')
    // The rest of a body that was refused must not be taken for the next request.
    if (context.status === 413) context.set('Connection', 'close')
  }
}

/** RFC 9725, section 4.2: what an endpoint or session does not know is 405, and says what is allowed. */
async function onlyAllowedMethods(context: Context, next: Next, router: Router): Promise<void> {
  const { path } = router.match(context.path, context.method)
  if (path.length === 0) {
    await next()
    return
  }
  context.set('Allow', [...new Set(path.flatMap(({ methods }) => methods)), 'OPTIONS'].join(', '))
  throw new Problem('method')
}

/** Any page may ask: what opens a room is the token, not a cookie. */
async function crossOrigin(context: Context, next: Next): Promise<void> {
  context.set('Access-Control-Allow-Origin', '*')
  context.set('Access-Control-Expose-Headers', exposed)
  context.set('Cache-Control', 'no-store')
  if (context.method !== 'OPTIONS') {
    await next()
    return
  }
  context.set('Access-Control-Allow-Methods', 'POST, PATCH, DELETE, OPTIONS')
  context.set('Access-Control-Allow-Headers', 'Authorization, Content-Type, If-Match')
  context.set('Access-Control-Max-Age', '600')
  if (/^\/wh[ei]p\//.test(context.path)) context.set('Accept-Post', 'application/sdp')
  context.status = 204
}

async function others(context: Context, pageFolder: string): Promise<void> {
  if (context.path === '/' || context.path === roomPagePath.slice(0, -1)) {
    context.redirect(`${roomPagePath}${context.search}`)
    return
  }
  if (await servePage(context, pageFolder)) return
  throw new Problem('notFound')
}
