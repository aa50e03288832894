import { z } from 'zod'

/** Data about a room that a media node of any kind needs. */
export const nodeRoomSchema = z.strictObject({
  roomId: z.string().min(1).max(128),
  topic: z.string(),
  /** room_mode of the room (specification, create_room). */
  mode: z.union([z.literal(1), z.literal(2), z.literal(3), z.literal(4)]),
  /** Password for the host role; empty: no password gives this role. */
  hostPassword: z.string(),
  attendeeMax: z.int(),
  maxVideo: z.int(),
  maxAudio: z.int(),
  /** Whether new people are rejected. */
  locked: z.boolean(),
  /** Whether people wait for admission by a host; undefined: no. */
  waitingRoom: z.boolean().optional(),
  /**
   * Scheduled end of the meeting, in milliseconds since the epoch; undefined: none. `closesAt`: latest time at which
   * the room closes.
   */
  endsAt: z.number().optional(),
  closesAt: z.number().optional(),
})
export type NodeRoom = z.output<typeof nodeRoomSchema>
