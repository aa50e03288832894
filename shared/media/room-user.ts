import { z } from 'zod'

/** User in a room, as reported between media programs and the controller. */
export const roomUserSchema = z.strictObject({
  userId: z.string(),
  userName: z.string(),
  /** Whether the user is a device; false: a person. */
  device: z.boolean(),
  role: z.enum(['host', 'member']),
  /** Whether the user joined with only the room's number. */
  byNumber: z.boolean(),
  /** Position of the raised hand: hands with lower values were raised earlier. 0: not raised. */
  hand: z.int(),
  /** Time of joining, in milliseconds since the epoch. */
  joinedAt: z.number(),
})
