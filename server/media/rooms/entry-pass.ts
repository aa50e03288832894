import { createHmac } from 'node:crypto'
import { isSignature } from './verify-join-token.ts'

/** Lifetime of a pass in milliseconds: a long working day. */
const lifeMs = 12 * 60 * 60_000
/** Field value of a pass that proves the user id by itself. */
const provesMark = 'id'

export interface PassGrant {
  roomId: string
  userId: string
  /** The node made the id, so only the holder of the pass has it. */
  proves: boolean
  /** Mark of the host password that the holder gave; empty for a member. */
  host: string
}

/** Content of a genuine pass. */
export interface ReadPass extends Pick<PassGrant, 'proves' | 'host'> {
  /** Milliseconds since the epoch. */
  issuedAt: number
}

/**
 * Signs a pass, which proves to any node of the site that the user was in the room. It has the time of issue, whether
 * it proves the id, the mark of the host password, and a signature for this room and user.
 * @param key signing key of the site's join links
 * @param now milliseconds since the epoch
 */
export function signPass(key: Buffer, { roomId, userId, proves, host }: PassGrant, now = Date.now()): string {
  const says = [now.toString(36), proves ? provesMark : '', host]
  return [...says, signatureOf(key, roomId, userId, says)].join('.')
}

/** Reads a pass. Returns undefined if it is forged, for another user or room, or expired. */
export function readPass(
  key: Buffer,
  { roomId, userId }: Pick<PassGrant, 'roomId' | 'userId'>,
  pass: string,
  now = Date.now(),
): ReadPass | undefined {
  const says = pass.split('.')
  if (!isSignature(signatureOf(key, roomId, userId, says.slice(0, -1)), says.at(-1) ?? '')) return undefined
  // A pass of an earlier version has the time of issue only.
  const [issued = '', proves = '', host = ''] = says.slice(0, -1)
  const issuedAt = Number.parseInt(issued, 36)
  return issuedAt > now - lifeMs ? { issuedAt, proves: proves === provesMark, host } : undefined
}

/**
 * Identifies a room's host password in passes. After a change of the password, older passes no longer grant the host
 * role.
 */
export function hostMark(key: Buffer, roomId: string, password: string): string {
  return createHmac('sha256', key)
    .update(JSON.stringify(['host', roomId, password]))
    .digest('base64url')
    .slice(0, 22)
}

function signatureOf(key: Buffer, roomId: string, userId: string, says: readonly string[]): string {
  return createHmac('sha256', key)
    .update(JSON.stringify(['pass', roomId, userId, ...says]))
    .digest('base64url')
}
