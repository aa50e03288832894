import type { Context } from 'koa'
import type { ApiError, ErrorName } from '../../shared/result-codes.ts'

/** Notice for a visitor who cannot continue. */
export interface Notice {
  status: number
  /** Error in the request journal. */
  error: ErrorName
  en: string
  zh: string
}

const unavailable: Notice = {
  status: 503,
  error: 'noNode',
  en: 'The room cannot be joined at the moment. Try again in a minute.',
  zh: '暂时无法加入房间，请稍后再试。',
}
const notices: Partial<Record<ErrorName, Notice>> = {
  licenceExpired: {
    status: 503,
    error: 'licenceExpired',
    en: 'The licence of this site has expired.',
    zh: '本站点的许可证已过期。',
  },
  licenceExceeded: {
    status: 503,
    error: 'licenceExceeded',
    en: 'This site is full. Try again later.',
    zh: '本站点已满，请稍后再试。',
  },
}

/** Returns the notice for a visit that the site refuses. */
export function noticeOf({ code }: ApiError): Notice {
  return notices[code] ?? unavailable
}

/** Responds with a complete page, because the visitor opened a link in a browser. */
export function answerNotice(context: Context, notice: Notice): void {
  context.status = notice.status
  context.type = 'text/html; charset=utf-8'
  context.set('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
  context.body = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Roomdesk</title>
<style>
html { font: 1.125rem/1.6 system-ui, sans-serif; }
body { display: grid; place-content: center; gap: 0.5rem; min-height: 100vh; margin: 0; padding: 1.5rem; box-sizing: border-box; text-align: center; }
p { margin: 0; max-width: 34rem; text-wrap: balance; }
</style>
<p>${notice.en}</p>
<p lang="zh-CN">${notice.zh}</p>
</html>
`
}
