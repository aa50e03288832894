import { createHmac, timingSafeEqual } from 'node:crypto'
import { decodeJoinClaims, type JoinClaims, splitJoinToken } from '../../../shared/join-token.ts'

/**
 * Returns the claims of a join token; undefined if it is malformed, forged or expired.
 * @param key the controller's signing key
 * @param now milliseconds since the epoch
 */
export function verifyJoinToken(key: Buffer, text: string, now = Date.now()): JoinClaims | undefined {
  const parts = splitJoinToken(text)
  if (parts === undefined) return undefined
  const expected = createHmac('sha256', key).update(parts.payload, 'latin1').digest('base64url')
  if (!isSignature(expected, parts.signature)) return undefined
  const claims = decodeJoinClaims(parts.payload)
  return claims !== undefined && claims.exp > now ? claims : undefined
}

/** Compares signatures in constant time. */
export function isSignature(expected: string, given: string): boolean {
  const [mine, theirs] = [Buffer.from(expected, 'latin1'), Buffer.from(given, 'latin1')]
  return mine.length === theirs.length && timingSafeEqual(mine, theirs)
}
