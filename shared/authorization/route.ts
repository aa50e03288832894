/** A route of a port: its method, and its path in the notation of @koa/router. */
export type RouteName = `${'GET' | 'POST' | 'PATCH' | 'DELETE'} /${string}`

/** Returns the method and the path of a route. */
export function splitRoute(route: RouteName): { method: string; path: string } {
  const space = route.indexOf(' ')
  return { method: route.slice(0, space), path: route.slice(space + 1) }
}
