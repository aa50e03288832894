import { createHmac } from 'node:crypto'

/** Who a browser is in one room, where no link says it. */
export interface BrowserIdentity {
  userId: string
  /** Stands for a link: once its person was taken out of the room, the browser is refused there. */
  tokenId: string
}

/**
 * The same browser is the same user each time it comes into a room by number or password, and another one in every other room. Who sees the user's
 * id cannot tell the browser's secret, and so cannot come under it.
 * @param key the node's own
 * @param secret made by the browser and kept there
 */
export function browserIdentity(key: Buffer, roomId: string, secret: string): BrowserIdentity {
  const digest = createHmac('sha256', key)
    .update(JSON.stringify(['browser', roomId, secret]))
    .digest('hex')
  return { userId: `guest-${digest.slice(0, 12)}`, tokenId: `browser-${digest.slice(12, 44)}` }
}
