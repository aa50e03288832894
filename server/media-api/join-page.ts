import type { Middleware } from 'koa'
import { roomParameter } from '../../shared/media/room-page.ts'
import { ApiError, type ErrorName } from '../../shared/result-codes.ts'
import type { JoinLinks } from '../rooms/join-links.ts'

/** Where people begin; public SDKs hand `/jroom/?roomId=…` to them. */
const path = /^\/jroom\/?$/

/** What a person reads who cannot go on. */
interface Notice {
  status: number
  en: string
  zh: string
}

const incomplete: Notice = {
  status: 400,
  en: 'This link is not complete: ask for it again.',
  zh: '链接不完整，请重新获取。',
}
const unavailable: Notice = {
  status: 503,
  en: 'The room cannot be joined at the moment. Try again in a minute.',
  zh: '暂时无法加入房间，请稍后再试。',
}
const notices: Partial<Record<ErrorName, Notice>> = {
  roomNotFound: {
    status: 404,
    en: 'There is no such room. It may have ended.',
    zh: '没有这个房间，它可能已经结束。',
  },
  roomClosed: { status: 403, en: 'The room is closed.', zh: '房间已关闭。' },
  licenceExpired: { status: 503, en: 'The licence of this site has expired.', zh: '本站点的许可证已过期。' },
  licenceExceeded: { status: 503, en: 'This site is full. Try again later.', zh: '本站点已满，请稍后再试。' },
}

/** `GET /jroom/?roomId=…` leads a browser to the room's page on its node; the join token is in the fragment, which a browser keeps. */
export function joinPage(links: JoinLinks): Middleware {
  return async (context, next) => {
    if (!path.test(context.path) || (context.method !== 'GET' && context.method !== 'HEAD')) {
      await next()
      return
    }
    context.set({ 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer', 'X-Content-Type-Options': 'nosniff' })
    const roomId = context.query[roomParameter]
    if (typeof roomId !== 'string' || roomId === '' || Buffer.byteLength(roomId) > 128) {
      return answer(context, incomplete)
    }
    try {
      context.redirect(await links.page(roomId, context.search))
      context.status = 302
      context.body = ''
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      answer(context, notices[error.code] ?? unavailable)
    }
  }
}

function answer(context: Parameters<Middleware>[0], notice: Notice): void {
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
