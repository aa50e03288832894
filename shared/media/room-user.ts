import { z } from 'zod'

/** User in a room, as exchanged by media programs and the controller. */
export const roomUserSchema = z.strictObject({
  userId: z.string(),
  userName: z.string(),
  /** Whether it is an outgoing user and not a person. */
  device: z.boolean(),
  role: z.enum(['host', 'member']),
  /** Whether the user joined with only the room's number. */
  byNumber: z.boolean(),
  /** Order of the raised hand: lower means earlier. 0: not raised. */
  hand: z.int(),
  /** In milliseconds since the epoch. */
  joinedAt: z.number(),
})
