import type { RouteName } from './route.ts'

/**
 * Right to a route of the console port. `anyone`: nothing has to be proved. `caller`: an access token, the console key or a session. `scraper`: as `caller` where a
 * setting says so, else anyone. `session`: a session, of a page with this console's own origin. `controller`: the proof of another controller of the site.
 */
export type ConsoleRight = 'anyone' | 'caller' | 'scraper' | 'session' | 'controller'

/** Rights to every route of the console port. A route does not compile without a line here, nor a line without its route. */
export const consoleRoutes = {
  // Load balancers ask without a name or by any; every other route wants one of this machine's own.
  'GET /healthz': 'anyone',
  'GET /metrics': 'scraper',
  // A browser that is about to trust it cannot have signed in before.
  'GET /certificate': 'anyone',
  'GET /certificate/roomdesk.crt': 'anyone',
  // The ways in, and out by one's own cookie.
  'GET /session': 'anyone',
  'POST /session': 'anyone',
  'DELETE /session': 'anyone',
  'GET /rpc': 'caller',
  // The procedure's own line decides further: shared/console/roles.ts.
  'POST /rpc/:procedure': 'caller',
  'GET /ws': 'session',
  'POST /controllers': 'controller',
  // Files of the page.
  'GET /*': 'anyone',
} as const satisfies Readonly<Record<RouteName, ConsoleRight>>
export type ConsoleRoute = keyof typeof consoleRoutes
