import { z } from 'zod'

/** A user in a room, as media programs and the controller exchange it. */
export const roomUserSchema = z.strictObject({
  userId: z.string(),
  userName: z.string(),
  /** An outgoing user rather than a person. */
  device: z.boolean(),
  role: z.enum(['host', 'member']),
  /** Joined by the room's number alone. */
  byNumber: z.boolean(),
  /** Milliseconds since the epoch. */
  joinedAt: z.number(),
})
