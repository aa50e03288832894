import { z } from 'zod'
import { limits } from '../limits.ts'
import { bytes } from '../operation.ts'
import { moment, procedure } from './procedure.ts'

/** A stream that one node hands to another. */
const relayView = z.strictObject({
  /** Id of the user, with a mark for a screen. */
  stream_id: z.string(),
  from: z.string(),
  to: z.string(),
  state: z.enum(['connecting', 'up']),
  /** Since when it is in that state. */
  since: moment,
})
export type RelayView = z.output<typeof relayView>

/** A room that is on several nodes. */
const relayedRoomView = z.strictObject({
  room_id: z.string(),
  /** Names, the room's own node first. */
  nodes: z.array(z.string()),
  relays: z.array(relayView),
})
export type RelayedRoomView = z.output<typeof relayedRoomView>

/** Procedures on what nodes hand to each other. */
export const relayProcedures = {
  'relays.list': procedure(
    'Rooms that are on several nodes, or that one of them: which nodes, and which streams these hand to each other now.',
    z.strictObject({ room_id: bytes(1, limits.roomExtendId).optional() }).default({}),
    z.array(relayedRoomView),
  ),
}
