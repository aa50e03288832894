import type { Context } from 'koa'
import { serverTexts, type ServerTexts } from '../../shared/media/server-texts.ts'
import type { ApiError, ErrorName } from '../../shared/result-codes.ts'

/** Notice for a visitor who cannot continue. */
export interface Notice {
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
export function noticeOf({ code }: ApiError): Notice {
  return notices[code] ?? unavailable
}

/** Returns the English text of a notice, for the request journal. */
export function englishOf(notice: Notice): string {
  return serverTexts(['en']).texts.notices[notice.text]
}

/** Responds with a complete page in the visitor's language, because the visitor opened a link in a browser. */
export function answerNotice(context: Context, notice: Notice): void {
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
