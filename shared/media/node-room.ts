import { z } from 'zod'

/** A room as a media node must hold it, whichever kind of node it is. */
export const nodeRoomSchema = z.strictObject({
  roomId: z.string().min(1).max(128),
  topic: z.string(),
  /** Its room_mode (specification, create_room). */
  mode: z.union([z.literal(1), z.literal(2), z.literal(3), z.literal(4)]),
  /** Empty: nobody becomes host by a password. */
  hostPassword: z.string(),
  attendeeMax: z.int(),
  maxVideo: z.int(),
  maxAudio: z.int(),
  /** Nobody new may join. */
  locked: z.boolean(),
  /** A host lets people in; left out: nobody waits. */
  waitingRoom: z.boolean().optional(),
  /** Scheduled end of the meeting, and when the room closes at the latest, in milliseconds since the epoch; left out: never. */
  endsAt: z.number().optional(),
  closesAt: z.number().optional(),
})
export type NodeRoom = z.output<typeof nodeRoomSchema>
