import { z } from 'zod'

/** Room as a media node of any kind must host it. */
export const nodeRoomSchema = z.strictObject({
  roomId: z.string().min(1).max(128),
  topic: z.string(),
  /** Its room_mode (specification, create_room). */
  mode: z.union([z.literal(1), z.literal(2), z.literal(3), z.literal(4)]),
  /** Empty: the host role cannot be obtained with a password. */
  hostPassword: z.string(),
  attendeeMax: z.int(),
  maxVideo: z.int(),
  maxAudio: z.int(),
  /** Whether new people are refused. */
  locked: z.boolean(),
  /** Whether a host admits people; undefined: no waiting room. */
  waitingRoom: z.boolean().optional(),
  /**
   * Scheduled end of the meeting, and latest time at which the room closes, in milliseconds since the epoch; undefined:
   * never.
   */
  endsAt: z.number().optional(),
  closesAt: z.number().optional(),
})
export type NodeRoom = z.output<typeof nodeRoomSchema>
