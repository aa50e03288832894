import type { RouteName } from './route.ts'

/**
 * Right to a route of the console port. `anyone`: no proof. `caller`: an access token, the console key or a session.
 * `scraper`: as `caller` if a setting requires it, otherwise as `anyone`. `session`: a session of a page with this
 * console's own origin. `controller`: the proof of another controller of the site.
 */
export type ConsoleRight = 'anyone' | 'caller' | 'scraper' | 'session' | 'controller'

/**
 * Right to every route of the console port. A route without an entry here, or an entry without a route, does not
 * compile.
 */
export const consoleRoutes = {
  // Load balancers send any Host or none. Other routes need a Host that `isOwnRequest` of the console accepts.
  'GET /healthz': 'anyone',
  'GET /metrics': 'scraper',
  // Users download the certificate before they can sign in, because their browser does not trust it yet.
  'GET /certificate': 'anyone',
  'GET /certificate/roomdesk.crt': 'anyone',
  // Sign-in, and sign-out with the caller's own cookie.
  'GET /session': 'anyone',
  'POST /session': 'anyone',
  'DELETE /session': 'anyone',
  'GET /rpc': 'caller',
  // Each procedure declares its own access; see shared/console/procedure-facts.ts.
  'POST /rpc/:procedure': 'caller',
  // Playback checks the access to each stream: operators may play all recordings, viewers those that a setting allows.
  // Access tokens require the scope.
  'GET /recordings/segments/:id': 'caller',
  'GET /recordings/segments/:id/:view': 'caller',
  'GET /recordings/exports/:id': 'caller',
  // Issues a ticket for one download, because the browser does not send the page's half of the session secret with a
  // download.
  'POST /tickets': 'caller',
  'GET /ws': 'session',
  'POST /controllers': 'controller',
  // Files of the page.
  'GET /*': 'anyone',
} as const satisfies Readonly<Record<RouteName, ConsoleRight>>
export type ConsoleRoute = keyof typeof consoleRoutes
