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

/** Makes presence what the node answered, and tells of everybody who came or went without a word. */
export function settlePresence(
  context: Pick<PoolContext, 'presence' | 'events' | 'expected'>,
  answer: UsersAnswer,
): void {
  const { presence, events, expected } = context
  const { node, roomId, heard } = answer
  const present = new Map(answer.users.map((user) => [user.userId, user]))
  for (const known of presence.usersOf(roomId)) {
    const from = presence.nodeOf(roomId) ?? node
    const now = present.get(known.userId)
    if (from === node && (heard.has(known.userId) || now?.joinedAt === known.joinedAt)) continue
    presence.leave(roomId, known.userId)
    events.emitDepartures(from, [{ roomId, user: known }], now === undefined ? 'The MCU was restarted.' : '')
  }
  for (const user of answer.users) {
    if (heard.has(user.userId) || presence.user(roomId, user.userId) !== undefined) continue
    presence.join(node, roomId, user)
    expected.came(roomId)
    events.emit({ type: 'joined', name: node, roomId, user })
  }
}
