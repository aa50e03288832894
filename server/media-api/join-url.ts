import { joinUrl } from '../../shared/media-operations.ts'
import { makerOfClient } from '../capabilities/capability.ts'
import { type AnyOperation, implement } from '../http/operation.ts'
import type { JoinLinks } from '../rooms/join-links.ts'

/** The operation that makes a join link for a user of the client's own (an extension of the specification). */
export function joinUrlOperation(links: JoinLinks): AnyOperation {
  return implement(joinUrl, ({ room_id, user_id, user_name, role, ttl }, { accessKey }) =>
    links.make({
      roomId: room_id,
      userId: user_id,
      userName: user_name,
      role: role ?? 'member',
      lifeMs: ttl === undefined ? undefined : ttl * 1_000,
      maker: makerOfClient(accessKey),
    }),
  )
}
