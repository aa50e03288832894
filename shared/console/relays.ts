import { z } from 'zod'
import { read } from './declare.ts'
import { moment } from '../domain/outcome.ts'
import { viewer } from './procedure-access.ts'
import { roomId } from '../domain/ids.ts'

/** Stream relayed from one node to another. */
const relayView = z.strictObject({
  /** Id of the stream: the id of the user, with a suffix for a shared screen. */
  stream_id: z.string(),
  from: z.string(),
  to: z.string(),
  state: z.enum(['connecting', 'up']),
  /** Start of the current state. */
  since: moment,
})
export type RelayView = z.output<typeof relayView>

const relayedRoomView = z.strictObject({
  room_id: z.string(),
  /** Names of the nodes; the room's own node is first. */
  nodes: z.array(z.string()),
  relays: z.array(relayView),
})
export type RelayedRoomView = z.output<typeof relayedRoomView>

export const relayProcedures = {
  'relays.list': read({
    summary:
      'Rooms that are on several nodes, or that one of them: which nodes, and which streams these hand to each other now.',
    input: z.strictObject({ room_id: roomId.optional() }).default({}),
    output: z.array(relayedRoomView),
    access: viewer('nodes:read'),
  }),
}
