import { z } from 'zod'

/** Somebody in a room, as a media program and the controller report it to each other. */
export const roomUserSchema = z.strictObject({
  userId: z.string(),
  userName: z.string(),
  /** An outgoing user rather than a person. */
  device: z.boolean(),
  role: z.enum(['host', 'member']),
  /** Came by the room's number alone. */
  byNumber: z.boolean(),
  /** Milliseconds since the epoch. */
  joinedAt: z.number(),
})
