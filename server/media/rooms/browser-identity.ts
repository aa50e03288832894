import { createHmac } from 'node:crypto'

/** Identity of a browser in one room, where no link names the user. */
export interface BrowserIdentity {
  userId: string
  /** Stands for a link: once its person was removed from the room, the browser is refused there. */
  tokenId: string
}

/**
 * Identity of a browser: the same user each time it enters a room by number or password, and another user in every other room. The user's id does not reveal the browser's secret,
 * so nobody else can enter under it.
 * @param key the node's own
 * @param secret made by the browser and kept there
 */
export function browserIdentity(key: Buffer, roomId: string, secret: string): BrowserIdentity {
  const digest = createHmac('sha256', key)
    .update(JSON.stringify(['browser', roomId, secret]))
    .digest('hex')
  return { userId: `guest-${digest.slice(0, 12)}`, tokenId: `browser-${digest.slice(12, 44)}` }
}
