import { createHmac, randomBytes } from 'node:crypto'
import { encodeJoinClaims, type JoinGrant, joinClaims, joinTokenText } from '../../shared/join-token.ts'

/**
 * Returns a signed join token.
 * @param key at least 32 bytes, shared only by the node and the controller
 * @param now milliseconds since the epoch
 * @param id of the link; default: a random one
 */
export function signJoinToken(key: Buffer, grant: JoinGrant, now = Date.now(), id = newLinkId()): string {
  const payload = encodeJoinClaims(joinClaims(grant, id, now))
  return joinTokenText(payload, createHmac('sha256', key).update(payload, 'latin1').digest('base64url'))
}

/** Generates the id of a link. It is unguessable, because it is the key of its revocation. */
export function newLinkId(): string {
  return randomBytes(9).toString('base64url')
}
