import type { Context } from 'koa'
import type { RoomStanding } from '../../../shared/authorization/room-standing.ts'
import { maxTicket } from '../../../shared/media/remote-media.ts'
import type { StreamSource } from '../../../shared/media/signal.ts'
import { Problem } from '../base/problem.ts'
import { streamIdOf } from '../rooms/room-streams.ts'
import type { MediaRouteParts } from './media-route-parts.ts'
import { open } from './open-session.ts'
import { bearerOf, offerType, readBody, shownHeight, ticketHeader } from './sdp-request.ts'
import { created } from './session-answer.ts'

/** Whether a request resumes a session instead of making one. */
export function resumes(context: Context): boolean {
  return context.get(ticketHeader) !== ''
}

/**
 * Resumes what somebody in the room sends, or watches, since before they came to this program: their page shows the ticket that it was given with it, and describes its end.
 * @throws Problem unauthorised for who is not in the room; noSession where it does not go on; as `readBody`
 */
export async function resume(
  parts: MediaRouteParts,
  context: Context,
  {
    roomId,
    what,
    right,
  }: { roomId: string; what: StreamSource | { streamId: string }; right: readonly RoomStanding[] },
): Promise<void> {
  const place = parts.rooms.bySession(bearerOf(context))
  if (place?.room.config.roomId !== roomId || !right.includes(place.member.standing)) throw new Problem('unauthorised')
  const { room, member } = place
  const media = parts.mediaOf(room)
  if (!media.isRemote) throw new Problem('noSession')
  const ticket = context.get(ticketHeader)
  if (ticket.length > maxTicket) throw new Problem('badRequest')
  const sends = typeof what === 'string'
  const streamId = sends ? streamIdOf(member.user.userId, what) : what.streamId
  const height = sends ? undefined : shownHeight(context)
  const sdp = await readBody(context, offerType)
  const input = { streamId, sends, height, ticket, sdp, remote: context.ip }
  const resumed = await open(parts, context.ip, async (held) => await media.resume(held, { room, member }, input))
  created(context, resumed, parts.settings().ice_servers)
}
