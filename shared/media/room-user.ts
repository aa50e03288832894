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
  /** Order of the raised hand: lower means earlier. 0: not raised. */
  hand: z.int(),
  /** Milliseconds since the epoch. */
  joinedAt: z.number(),
})
