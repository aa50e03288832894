import { createHmac, timingSafeEqual } from 'node:crypto'

/** Milliseconds that a pass is good for: a long working day. */
const lifeMs = 12 * 60 * 60_000

/**
 * Shows that somebody was in a room, to any node of the site: when it was issued, and a signature that is good for this room and user alone.
 * @param key of the site's join links
 * @param now milliseconds since the epoch
 */
export function signPass(key: Buffer, roomId: string, userId: string, now = Date.now()): string {
  const issued = now.toString(36)
  return `${issued}.${signatureOf(key, roomId, userId, issued)}`
}

/** When a pass was issued, milliseconds since the epoch; undefined when it is forged, somebody else's or too old. */
export function passIssuedAt(
  key: Buffer,
  roomId: string,
  userId: string,
  pass: string,
  now = Date.now(),
): number | undefined {
  const [issued = '', signature = ''] = pass.split('.')
  const mine = Buffer.from(signatureOf(key, roomId, userId, issued), 'latin1')
  const given = Buffer.from(signature, 'latin1')
  if (mine.length !== given.length || !timingSafeEqual(mine, given)) return undefined
  const at = Number.parseInt(issued, 36)
  return at > now - lifeMs ? at : undefined
}

function signatureOf(key: Buffer, roomId: string, userId: string, issued: string): string {
  return createHmac('sha256', key)
    .update(JSON.stringify(['pass', roomId, userId, issued]))
    .digest('base64url')
}
