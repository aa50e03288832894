import { z } from 'zod'

/** Scopes of an access token: `read` allows reading, `write` allows changes. Sorted as in the console's list. */
export const tokenScopes = [
  'site:read',
  'site:write',
  'rooms:read',
  'rooms:write',
  'links:write',
  'media:watch',
  'recordings:read',
  'recordings:write',
  'devices:read',
  'devices:write',
  'nodes:read',
  'nodes:write',
  'wall:read',
  'wall:write',
  'credentials:read',
  'credentials:write',
  'backups:read',
  'backups:write',
  'accounts:read',
  'events:read',
  'lab:write',
] as const
export type TokenScope = (typeof tokenScopes)[number]

export const tokenScope = z.enum(tokenScopes)

/** Returns the distinct scopes, in the order of the list. */
export function orderedScopes(scopes: readonly TokenScope[]): TokenScope[] {
  return tokenScopes.filter((scope) => scopes.includes(scope))
}

/** Whether a scope only allows reading. */
export function isReading(scope: TokenScope): boolean {
  return scope.endsWith(':read')
}
