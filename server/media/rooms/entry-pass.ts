import { createHmac } from 'node:crypto'
import { isSignature } from './verify-join-token.ts'

/** Milliseconds that a pass is good for: a long working day. */
const lifeMs = 12 * 60 * 60_000
/** Stands in a pass that proves the id by itself. */
const provesMark = 'id'

/** Content of a pass. */
export interface PassGrant {
  roomId: string
  userId: string
  /** The node made the id: the holder of the pass has it. */
  proves: boolean
  /** Mark of the host password that its holder gave; empty for a member. */
  host: string
}

/** Content of a genuine pass. */
export interface ReadPass extends Pick<PassGrant, 'proves' | 'host'> {
  /** Milliseconds since the epoch. */
  issuedAt: number
}

/**
 * Shows that somebody was in a room, to any node of the site: when it was issued, whether it proves the id, the mark of the host password, and a signature
 * that is good for this room and user alone.
 * @param key of the site's join links
 * @param now milliseconds since the epoch
 */
export function signPass(key: Buffer, { roomId, userId, proves, host }: PassGrant, now = Date.now()): string {
  const says = [now.toString(36), proves ? provesMark : '', host]
  return [...says, signatureOf(key, roomId, userId, says)].join('.')
}

/** Reads a pass; undefined when it is forged, for somebody else or too old. */
export function readPass(
  key: Buffer,
  { roomId, userId }: Pick<PassGrant, 'roomId' | 'userId'>,
  pass: string,
  now = Date.now(),
): ReadPass | undefined {
  const says = pass.split('.')
  if (!isSignature(signatureOf(key, roomId, userId, says.slice(0, -1)), says.at(-1) ?? '')) return undefined
  // One of an earlier version says when it was issued, and nothing else.
  const [issued = '', proves = '', host = ''] = says.slice(0, -1)
  const issuedAt = Number.parseInt(issued, 36)
  return issuedAt > now - lifeMs ? { issuedAt, proves: proves === provesMark, host } : undefined
}

/** Stands for a room's host password in passes: a host by another password is none. */
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
