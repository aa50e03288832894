import { createHmac, randomBytes } from 'node:crypto'
import { encodeJoinClaims, type JoinGrant, joinClaims, joinTokenText } from '../../shared/join-token.ts'

/**
 * A signed join token.
 * @param key at least 32 bytes, the node's and the controller's alone
 * @param now milliseconds since the epoch
 * @param id of the link; left out: a random one
 */
export function signJoinToken(key: Buffer, grant: JoinGrant, now = Date.now(), id = newLinkId()): string {
  const payload = encodeJoinClaims(joinClaims(grant, id, now))
  return joinTokenText(payload, createHmac('sha256', key).update(payload, 'latin1').digest('base64url'))
}

/** Makes the id of a link: unguessable, because it is the key of its revocation. */
export function newLinkId(): string {
  return randomBytes(9).toString('base64url')
}
