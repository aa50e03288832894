import type Router from '@koa/router'
import Koa, { type Context, type Next } from 'koa'
import { nodeRoutes, type NodeRoute } from '../../../shared/authorization/node-routes.ts'
import { isClientGone } from '../../../shared/client-gone.ts'
import { reachPath, reachPage, reachToken } from '../../../shared/media/reach-page.ts'
import { roomPagePath } from '../../../shared/media/room-page.ts'
import type { MediaLog } from '../base/media-log.ts'
import { OnOtherNode, Problem } from '../base/problem.ts'
import { type MediaRoute, type MediaRouteDependencies, mediaRouter } from './media-routes.ts'
import { servePage } from './page-files.ts'
import { fragmentType, offerType, ticketHeader } from './whip-messages.ts'
import type { PassedOnProof, Web, WebHandlers, WebPort } from './web.ts'
import { plainAddress } from '../../../shared/client-address.ts'

/** Maximum number of visits reported to the controller per second. Further devices still receive the page. */
const maxReports = 20

/** Dependencies and options of the node's port. */
export interface NodeServerOptions {
  web: Web
  passedOn: PassedOnProof | undefined
  /** Folder of the room page; empty: none. */
  pageFolder: string
  parts: MediaRouteDependencies
  /** Called for each device that opens the reachability page. */
  reached: (visit: Visit) => void
  log: MediaLog
  /** Handles a request to upgrade to a WebSocket. */
  upgrade: WebHandlers['upgrade']
}

const exposed = `Location, ETag, Link, Accept-Patch, Accept-Post, ${ticketHeader}`

/** Creates the port of the node: WHIP, WHEP, the room page and the signalling WebSocket. */
export function nodeServer({ web, passedOn, pageFolder, parts, reached, log, upgrade }: NodeServerOptions): WebPort {
  const app = new Koa()
  app.on('error', (error: unknown) => {
    if (!isClientGone(error)) log.error('a request failed', String(error))
  })
  app.use(async (context, next) => {
    context.request.ip = web.client(context.req)
    await next()
  })
  app.use(async (context, next) => await answerProblems(context, next, log))
  app.use(crossOrigin)
  const router = mediaRouter(parts)
  app.use(router.routes())
  app.use(async (context, next) => await onlyAllowedMethods(context, next, router))
  const files = web.files(pageFolder)
  const reach = reachRoute(reached)
  app.use(
    async (context) => await others(context, () => servePage(context, files, parts.settings().page_origins), reach),
  )
  return web.port({ request: app.callback(), upgrade }, passedOn)
}

async function answerProblems(context: Context, next: Next, log: MediaLog): Promise<void> {
  try {
    await next()
  } catch (error) {
    const problem = error instanceof Problem ? error : undefined
    if (problem === undefined && !isClientGone(error))
      log.error('a request failed', error instanceof Error ? (error.stack ?? '') : String(error))
    context.status = problem?.status ?? 500
    context.body = problem?.document() ?? {
      type: 'about:blank',
      title: 'The node failed',
      status: 500,
      reason: 'failed',
    }
    context.type = 'application/problem+json'
    if (problem instanceof OnOtherNode) context.set('Location', `${problem.url}${context.url}`)
    if (context.status === 401) context.set('WWW-Authenticate', 'Bearer')
    // The rest of a refused body must not be parsed as the next request.
    if (context.status === 413) context.set('Connection', 'close')
  }
}

/** Rejects unsupported methods of an endpoint or session with 405 and the allowed methods (RFC 9725, section 4.2). */
async function onlyAllowedMethods(context: Context, next: Next, router: Router): Promise<void> {
  const { path } = router.match(context.path, context.method)
  if (path.length === 0) {
    await next()
    return
  }
  context.set('Allow', [...new Set(path.flatMap(({ methods }) => methods)), 'OPTIONS'].join(', '))
  throw new Problem('method')
}

/** Allows requests from any origin, because access requires a token, not a cookie. */
async function crossOrigin(context: Context, next: Next): Promise<void> {
  context.set('Access-Control-Allow-Origin', '*')
  context.set('Access-Control-Expose-Headers', exposed)
  context.set('Cache-Control', 'no-store')
  if (context.method !== 'OPTIONS') {
    await next()
    return
  }
  context.set('Access-Control-Allow-Methods', 'POST, PATCH, DELETE, OPTIONS')
  context.set('Access-Control-Allow-Headers', `*, Authorization, Content-Type, If-Match, ${ticketHeader}`)
  context.set('Access-Control-Max-Age', '600')
  if (/^\/wh[ei]p\//.test(context.path)) context.set('Accept-Post', offerType)
  if (context.path.startsWith('/session/')) context.set('Accept-Patch', fragmentType)
  context.status = 204
}

/** Routes of the node that return a page or redirect to the room page. */
type PageRoute = Exclude<NodeRoute, MediaRoute | 'GET /signal'>

function pageRouteOf(path: string): PageRoute {
  if (path === '/') return 'GET /'
  if (path === '/room') return 'GET /room'
  return path.startsWith(reachPath) ? 'GET /reach/:token' : 'GET /room/*'
}

async function others(
  context: Context,
  page: () => Promise<boolean>,
  reach: (context: Context) => boolean,
): Promise<void> {
  const toPage = (): boolean => {
    context.redirect(`${roomPagePath}${context.search}`)
    return true
  }
  const pages: Readonly<Record<PageRoute, () => boolean | Promise<boolean>>> = {
    'GET /': toPage,
    'GET /room': toPage,
    'GET /room/*': page,
    'GET /reach/:token': () => reach(context),
  }
  const route = pageRouteOf(context.path)
  if (nodeRoutes[route] === 'anyone' && (await pages[route]())) return
  throw new Problem('notFound')
}

interface Visit {
  token: string
  client: string
}

/**
 * Creates the route that a device opens to prove that it can reach this machine. The route returns a small page and
 * reports the device to the controller. The page is the same for every token, because only the controller can check
 * tokens. The handler returns false for methods other than GET and HEAD.
 */
function reachRoute(reached: (visit: Visit) => void): (context: Context) => boolean {
  let second = 0
  let reports = 0
  return (context) => {
    if (context.method !== 'GET' && context.method !== 'HEAD') return false
    context.type = 'text/html'
    context.set('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
    context.set('X-Content-Type-Options', 'nosniff')
    context.set('Referrer-Policy', 'no-referrer')
    context.body = reachPage(context.acceptsLanguages())
    const token = context.path.slice(reachPath.length)
    const now = Math.floor(performance.now() / 1_000)
    if (now !== second) reports = 0
    second = now
    if (context.method === 'GET' && reachToken.test(token) && reports < maxReports) {
      reports += 1
      reached({ token, client: plainAddress(context.request.ip) })
    }
    return true
  }
}
