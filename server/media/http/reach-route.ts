import type { Context } from 'koa'
import { plainAddress } from '../../../shared/client-address.ts'
import { reachPage, reachPath, reachToken } from '../../../shared/media/reach-page.ts'

/** A device that opened the page. */
export interface Visit {
  token: string
  /** IP address. */
  client: string
}

/** Maximum number of reports to the controller in a second; further devices see the page all the same. */
const maxReports = 20

/**
 * Makes the route that answers a device with a small page which says that it reaches this machine, and reports the device to the controller. Every token is answered the
 * same: only the controller knows which one counts. The route returns false for other methods.
 */
export function reachRoute(reached: (visit: Visit) => void): (context: Context) => boolean {
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
