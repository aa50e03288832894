import type { Context, Middleware } from 'koa'
import { roomParameter } from '../../shared/media/room-page.ts'
import { serverTexts, type ServerTexts } from '../../shared/media/server-texts.ts'
import { codeOfPath, shortLinkPath } from '../../shared/media/short-link.ts'
import { ApiError, type ErrorName, retOf, success } from '../../shared/result-codes.ts'
import { visitNames } from '../../shared/room-entry.ts'
import type { HolderPage, HolderPages } from '../capabilities/holder-pages.ts'
import { clientAddress, ClientRateLimit } from '../edge/client-address.ts'
import { type Gated, provenPage } from '../gate/gate.ts'
import type { RequestObserver } from '../observe/observation.ts'
import type { JoinLinks } from '../rooms/join-links.ts'
import type { Leadership } from '../store/store.ts'

/** Path of the entry page, in links of public SDKs: `/jroom/?roomId=…`. */
const path = /^\/jroom\/?$/
/** Maximum number of visits per minute and address: enough for an office behind one address. */
const maxVisits = 300

const incomplete: Notice = { status: 400, error: 'parameter', text: 'linkIncomplete' }
const tooMany: Notice = { status: 429, error: 'tooManyFailures', text: 'tooManyVisits' }

interface JoinPageDependencies {
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

const ended: Notice = { status: 404, error: 'roomNotFound', text: 'linkEnded' }

/**
 * `GET /j/<code>` redirects the holder of a short link to the room page. Unlike the token in a fragment, the code is
 * sent to the server. The code refers to a stored capability, which ends as soon as it is revoked. All invalid codes
 * get the same response, and count as guesses.
 */
export function shortLinkPage(
  links: Pick<JoinLinks, 'tokenOf' | 'enter'>,
  pages: Pick<HolderPages, 'page'>,
): HolderPage {
  return pages.page({
    kinds: ['join'],
    read: (path) => {
      if (!path.startsWith(shortLinkPath)) return undefined
      const code = codeOfPath(path) ?? ''
      return { token: code === '' ? '' : links.tokenOf(code), file: code }
    },
    serve: async ({ context, capability, file: code }) => {
      try {
        context.redirect(links.enter(capability, code))
        context.status = 302
        context.body = ''
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        answerNotice(context, noticeOf(error))
      }
      return true
    },
    refuse: (context) => {
      answerNotice(context, ended)
      return true
    },
  })
}

/** Notice for a visitor who cannot continue. */
interface Notice {
  status: number
  /** Error in the request journal. */
  error: ErrorName
  text: keyof ServerTexts['notices']
}

const unavailable: Notice = { status: 503, error: 'noNode', text: 'unavailable' }
const notices: Partial<Record<ErrorName, Notice>> = {
  licenceExpired: { status: 503, error: 'licenceExpired', text: 'licenceExpired' },
  licenceExceeded: { status: 503, error: 'licenceExceeded', text: 'licenceExceeded' },
}

/** Returns the notice for a visit that the site refuses. */
function noticeOf({ code }: ApiError): Notice {
  return notices[code] ?? unavailable
}

/** Returns the English text of a notice, for the request journal. */
function englishOf(notice: Notice): string {
  return serverTexts(['en']).texts.notices[notice.text]
}

/** Responds with a complete page in the visitor's language, because the visitor opened a link in a browser. */
function answerNotice(context: Context, notice: Notice): void {
  const { language, texts } = serverTexts(context.acceptsLanguages())
  context.status = notice.status
  context.type = 'text/html; charset=utf-8'
  context.set('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
  context.body = `<!doctype html>
<html lang="${language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Roomdesk</title>
<style>
html { font: 1.125rem/1.6 system-ui, sans-serif; }
body { display: grid; place-content: center; gap: 0.5rem; min-height: 100vh; margin: 0; padding: 1.5rem; box-sizing: border-box; text-align: center; }
p { margin: 0; max-width: 34rem; text-wrap: balance; }
</style>
<p>${texts.notices[notice.text]}</p>
</html>
`
}
