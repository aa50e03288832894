import type { Exchange } from '../exchange.ts'
import type { Route } from '../route.ts'
import type { Refusal } from './refusal.ts'

/** The route of an exchange whose path and method an operation has; undefined when none has. */
export function knownRoute({ route, request }: Exchange): Route | undefined {
  return route?.methods.includes(request.method ?? '') ? route : undefined
}

/** Whether the request is a CORS preflight, for any path: the request that follows is refused if the path is unknown. */
export function isPreflight({ request }: Exchange): boolean {
  return request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined
}

/** Why there is no route. */
export function refuseRoute({ api, request, route, path }: Exchange): Refusal {
  if (route === undefined)
    return { error: 'notSupported', message: `There is no ${plainPath(path)} on the ${api} API.` }
  const message = `${request.method} is not supported for ${path}: use ${route.methods.join(' or ')}.`
  return { error: 'notSupported', message }
}

/** A path as a message may name it: printable ASCII, bounded. */
function plainPath(path: string): string {
  const shown = path.replace(/[^\x21-\x7e]/g, '?')
  return shown.length > 100 ? `${shown.slice(0, 100)}…` : shown
}
