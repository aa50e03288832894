import type { RouteName } from './route.ts'

/**
 * Right to a route of the console port. `anyone`: no proof. `caller`: an access token, the console key or a session.
 * `scraper`: like `caller` if a setting requires it, otherwise anyone. `session`: a session of a page with this
 * console's own origin. `controller`: the proof of another controller of the site.
 */
export type ConsoleRight = 'anyone' | 'caller' | 'scraper' | 'session' | 'controller'

/** Rights to every route of the console port. A route without an entry here, or an entry without a route, does not compile. */
export const consoleRoutes = {
  // Load balancers send any Host or none; every other route requires a host name of this machine.
  'GET /healthz': 'anyone',
  'GET /metrics': 'scraper',
  // A browser that does not trust the certificate yet cannot have signed in.
  'GET /certificate': 'anyone',
  'GET /certificate/roomdesk.crt': 'anyone',
  // Sign-in, and sign-out with the caller's own cookie.
  'GET /session': 'anyone',
  'POST /session': 'anyone',
  'DELETE /session': 'anyone',
  'GET /rpc': 'caller',
  // Each procedure has its own entry: shared/console/procedure-facts.ts.
  'POST /rpc/:procedure': 'caller',
  // Playback checks each stream: operators see all recordings, viewers those that a setting allows, tokens require
  // their scope.
  'GET /recordings/segments/:id': 'caller',
  'GET /recordings/segments/:id/:view': 'caller',
  'GET /recordings/exports/:id': 'caller',
  // Issues a ticket for one download, which the browser requests without the page's half of the session.
  'POST /tickets': 'caller',
  'GET /ws': 'session',
  'POST /controllers': 'controller',
  // Files of the page.
  'GET /*': 'anyone',
} as const satisfies Readonly<Record<RouteName, ConsoleRight>>
export type ConsoleRoute = keyof typeof consoleRoutes
