import { createHmac, randomBytes } from 'node:crypto'
import { encodeJoinClaims, type JoinGrant, joinClaims, joinTokenText } from '../../shared/join-token.ts'

/**
 * A signed join token.
 * @param key at least 32 bytes, the node's and the controller's alone
 * @param now milliseconds since the epoch
 */
export function signJoinToken(key: Buffer, grant: JoinGrant, now = Date.now()): string {
  const payload = encodeJoinClaims(joinClaims(grant, randomBytes(9).toString('base64url'), now))
  return joinTokenText(payload, createHmac('sha256', key).update(payload, 'latin1').digest('base64url'))
}
