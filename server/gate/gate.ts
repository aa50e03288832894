import type { ServerResponse } from 'node:http'
import type { Context, Middleware, Next } from 'koa'
import { onAbort } from '../../shared/abort.ts'

declare const gated: unique symbol

/**
 * Handler that a port accepts: for HTTP, WebSocket, the console's procedures, or requests of a media program. Created
 * only by `proven` or `unproven`. The type prevents a port from answering from outdated memory: after a sleep or a
 * network failure, another controller may be the leader.
 */
export type Gated<Handler> = Handler & { readonly [gated]: true }

/** Source of proofs that this controller is the leader: the `Leadership` of a store. */
export interface ProofSource<View> {
  confirmed(): View | Promise<View>
}

/**
 * Reason why a handler needs no proof.
 * - `no state`: it serves constants, files of the program, or a certificate.
 * - `this process`: it reports on this process, whichever controller is the leader.
 * - `the leader answers`: it forwards everything to the leader.
 * - `gated inside`: it dispatches to handlers with their own gates.
 * - `media program`: it runs in a process without the site's state.
 * - `between controllers`: another controller authenticates itself, and asks whether this controller is the leader.
 */
export type UnprovenReason =
  | 'no state'
  | 'this process'
  | 'the leader answers'
  | 'gated inside'
  | 'media program'
  | 'between controllers'

/** Marks a handler that needs no proof, for the given reason. */
export function unproven<Call extends unknown[], Answer>(
  _reason: UnprovenReason,
  handler: (...call: Call) => Answer,
): Gated<(...call: Call) => Answer> {
  return handler as Gated<typeof handler>
}

/**
 * Returns a handler that is called with the view of the confirmed leader, proven for each call: immediately if the last
 * proof is still valid, otherwise after a new proof.
 * @param refused handles the call if the leadership is not confirmed; `error`: see `Leadership.confirmed`
 */
export function proven<View, Call extends unknown[], Answer>(
  source: ProofSource<View>,
  handler: (view: View, ...call: Call) => Answer | Promise<Answer>,
  refused: (error: unknown, call: NoInfer<Call>) => NoInfer<Answer> | Promise<NoInfer<Answer>>,
): Gated<(...call: Call) => Answer | Promise<Answer>> {
  const ask = (...call: Call): Answer | Promise<Answer> => {
    const view = source.confirmed()
    if (!(view instanceof Promise)) return handler(view, ...call)
    return view.then(
      (confirmed) => handler(confirmed, ...call),
      (error: unknown) => refused(error, call),
    )
  }
  return ask as Gated<typeof ask>
}

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
