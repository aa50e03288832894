import { z } from 'zod'

/** Parts of the site that an access token can be limited to: `read` shows, `write` changes. Order of the console's list. */
export const tokenScopes = [
  'site:read',
  'site:write',
  'rooms:read',
  'rooms:write',
  'links:write',
  'media:watch',
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

/** Scopes without those named twice, in the order of the list. */
export function orderedScopes(scopes: readonly TokenScope[]): TokenScope[] {
  return tokenScopes.filter((scope) => scopes.includes(scope))
}

/** Whether a scope shows and changes nothing. */
export function isReading(scope: TokenScope): boolean {
  return scope.endsWith(':read')
}
