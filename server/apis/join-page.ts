import type { Context, Middleware } from 'koa'
import { roomParameter } from '../../shared/media/room-page.ts'
import { ApiError, retOf, success } from '../../shared/result-codes.ts'
import { clientAddress, ClientRateLimit } from '../edge/client-address.ts'
import type { Gated } from '../gate/gate.ts'
import { provenPage } from '../gate/page.ts'
import type { RequestObserver } from '../observe/observation.ts'
import type { JoinLinks } from '../rooms/join-links.ts'
import type { Leadership } from '../store/store.ts'
import { answerNotice, englishOf, type Notice, noticeOf } from './visit-notice.ts'
import { visitNames } from '../../shared/room-entry.ts'

/** Path of the entry page, in links of public SDKs: `/jroom/?roomId=…`. */
const path = /^\/jroom\/?$/
/** Maximum number of visits per minute and address: enough for an office behind one address. */
const maxVisits = 300

const incomplete: Notice = { status: 400, error: 'parameter', text: 'linkIncomplete' }
const tooMany: Notice = { status: 429, error: 'tooManyFailures', text: 'tooManyVisits' }

export interface JoinPageDependencies {
  links: Pick<JoinLinks, 'page'>
  observer: RequestObserver
  leadership: Leadership
  /** Limits visits by client address; undefined: the default for an office. */
  visits?: ClientRateLimit
}

/**
 * `GET /jroom/?roomId=…` redirects a browser to the room page on the embedded node. The join token is in the fragment,
 * which browsers do not send. The visitor is not authenticated yet, so every room number gets the same response, and no
 * room is looked up or changed.
 */
export function joinPage({ links, observer, leadership, visits }: JoinPageDependencies): Gated<Middleware> {
  const limit = visits ?? new ClientRateLimit({ max: maxVisits, windowMs: 60_000 })
  const serve = (context: Context): void => {
    const began = performance.now()
    const at = Date.now()
    context.set({ 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer', 'X-Content-Type-Options': 'nosniff' })
    const client = clientAddress(context.req)
    const roomId = context.query[roomParameter]
    const notice = limit.take(client) ? visit(context, links, roomId) : tooMany
    if (notice === tooMany) context.set('Retry-After', String(limit.retryAfterSeconds(client)))
    if (notice !== undefined) answerNotice(context, notice)
    observer.observe({
      at,
      api: 'media',
      operation: visitNames.joinPage,
      method: context.method,
      path: context.path,
      ret: notice === undefined ? success : (retOf('media', notice.error) ?? success),
      duration: performance.now() - began,
      client,
      credential: '',
      room: typeof roomId === 'string' ? roomId : '',
      params: new Map(),
      msg: notice === undefined ? '' : englishOf(notice),
      reason: '',
    })
  }
  return provenPage(
    leadership,
    (at) => path.test(at),
    (_view, context) => serve(context),
  )
}

/** Redirects the visitor; if the visit is refused, returns the notice with the reason. */
function visit(context: Context, links: JoinPageDependencies['links'], roomId: unknown): Notice | undefined {
  if (typeof roomId !== 'string' || roomId === '' || Buffer.byteLength(roomId) > 128) return incomplete
  try {
    context.redirect(links.page(context.search))
    context.status = 302
    context.body = ''
    return undefined
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return noticeOf(error)
  }
}
