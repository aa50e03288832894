import { z } from 'zod'

/**
 * A join token is the secret part of a join link: `<payload>.<signature>`, both base64url. The payload contains the
 * claims as JSON, the signature is an HMAC-SHA-256 of the payload's text. The controller signs tokens, and the node
 * verifies them.
 */

/** Claims of a join token. `observer`: an invisible viewer, for the console. */
const joinClaimsSchema = z.strictObject({
  v: z.literal(1),
  /** Id of the token, for revocation. */
  id: z.string().min(1).max(64),
  room: z.string().min(1).max(128),
  /** User to whom the link is bound; undefined: the user chooses a name and receives an id. */
  user: z.string().min(1).max(128).optional(),
  name: z.string().max(256).optional(),
  /** Short address of the link, which the room page shares and returns to. */
  url: z.string().max(400).optional(),
  role: z.enum(['member', 'host', 'observer']),
  /** Time of issue and expiry, in milliseconds since the epoch. */
  iat: z.number(),
  exp: z.number(),
})
export type JoinClaims = z.output<typeof joinClaimsSchema>

/** Purpose of a join link. */
export interface JoinGrant {
  roomId: string
  userId?: string
  userName?: string
  /** Short address of the link. */
  url?: string
  role: JoinClaims['role']
  /** Lifetime of the link, in milliseconds. */
  lifeMs: number
}

/** Maximum length of a token, in characters. */
const maxJoinToken = 4_096

/** Returns the claims of a token for a grant. @param id unguessable */
export function joinClaims(grant: JoinGrant, id: string, now: number): JoinClaims {
  const claims: JoinClaims = { v: 1, id, room: grant.roomId, role: grant.role, iat: now, exp: now + grant.lifeMs }
  if (grant.userId !== undefined) claims.user = grant.userId
  if (grant.userName !== undefined) claims.name = grant.userName
  if (grant.url !== undefined) claims.url = grant.url
  return claims
}

/** Returns the payload of a token, which is to be signed. */
export function encodeJoinClaims(claims: JoinClaims): string {
  const bytes = String.fromCharCode(...new TextEncoder().encode(JSON.stringify(claims)))
  return btoa(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

/** Parses a payload with a verified signature; undefined if invalid. */
export function decodeJoinClaims(payload: string): JoinClaims | undefined {
  try {
    const bytes = atob(payload.replaceAll('-', '+').replaceAll('_', '/'))
    const text = new TextDecoder().decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)))
    return joinClaimsSchema.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

/** Joins the two parts of a token. */
export function joinTokenText(payload: string, signature: string): string {
  return `${payload}.${signature}`
}

/** Splits a token into its two parts without verification; undefined if malformed. */
export function splitJoinToken(text: string): { payload: string; signature: string } | undefined {
  if (text.length > maxJoinToken) return undefined
  const [payload, signature, more] = text.split('.')
  return payload === undefined || signature === undefined || more !== undefined ? undefined : { payload, signature }
}
