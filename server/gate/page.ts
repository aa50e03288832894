import type { ServerResponse } from 'node:http'
import type { Context, Middleware, Next } from 'koa'
import { onAbort } from '../../shared/abort.ts'
import { type Gated, type ProofSource, proven, unproven } from './gate.ts'

export interface PageLeadership<View> extends ProofSource<View> {
  signal(): AbortSignal
}

/** Delay in seconds after which a client should retry. By this time, there is a new proof or a new leader. */
const retryAfter = '1'

/**
 * Returns a page of an API port that reads the site's state. Its response is aborted when the lease ends, because a
 * stream may last for hours.
 * @param isAt whether a path belongs to this page; other paths are handled by the next page, without a proof
 */
export function provenPage<View>(
  leadership: PageLeadership<View>,
  isAt: (path: string) => boolean,
  serve: (view: View, context: Context) => Promise<void> | void,
): Gated<Middleware> {
  const page = proven(
    leadership,
    async (view, context: Context) => {
      cutAtEnd(leadership, context.res)
      await serve(view, context)
    },
    (_error, [context]) => {
      context.status = 503
      context.set({ 'Retry-After': retryAfter, 'Cache-Control': 'no-store' })
      context.type = 'text/plain; charset=utf-8'
      context.body = 'It is not confirmed that this controller leads its site: try again.\n'
    },
  )
  return unproven('gated inside', (context: Context, next: Next) => {
    const isRead = context.method === 'GET' || context.method === 'HEAD'
    return isRead && isAt(context.path) ? page(context) : next()
  })
}

/** Aborts an incomplete response when the lease ends. */
export function cutAtEnd(leadership: Pick<PageLeadership<unknown>, 'signal'>, response: ServerResponse): void {
  const stop = onAbort(leadership.signal(), () => void response.destroy())
  response.once('close', stop)
}
