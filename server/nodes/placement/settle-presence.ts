import { takeIn } from '../arrivals.ts'
import type { NodeUser } from '../media-node.ts'
import type { PoolContext } from '../pool-context.ts'

/** What a node answered about the people of one of its rooms. */
export interface UsersAnswer {
  node: string
  roomId: string
  users: readonly NodeUser[]
  /** userIds of whom the node told something while it was asked: what it told is newer than its answer, or the same. */
  heard: ReadonlySet<string>
}

/** Makes presence on that node what it answered, and tells of everybody who came or went without a word. */
export function settlePresence(context: PoolContext, { node, roomId, users, heard }: UsersAnswer): void {
  const { presence, events } = context
  const present = new Map(users.map((user) => [user.userId, user]))
  for (const known of presence.usersAt(roomId, node)) {
    const now = present.get(known.userId)
    if (heard.has(known.userId) || now?.joinedAt === known.joinedAt) continue
    presence.leave(roomId, known.userId)
    events.emitDepartures(node, [{ roomId, user: known }], now === undefined ? 'The MCU was restarted.' : '')
  }
  for (const user of users) {
    const isKnown = presence.stay(roomId, user.userId)?.node === node
    if (!heard.has(user.userId) && !isKnown) takeIn(context, node, { roomId, user })
  }
}
