import { z } from 'zod'
import { roomUserSchema } from './room-user.ts'
import { streamSources } from './stream-source.ts'

/**
 * Rooms whose media is on another node: the program that shows the room page lets people in and out, and asks the controller for everything that concerns media. What
 * browsers send goes to that server by itself.
 */

/** Characters of a sealed ticket. */
export const maxTicket = 4_096

const roomId = z.string().min(1).max(128)
const userId = z.string().min(1).max(128)
const source = z.enum(streamSources)

/** Somebody who is in such a room and did not come through this program: a camera, or a client of the other server. */
const remotePersonSchema = roomUserSchema.extend({
  /** They have proven their id, or it is a camera's. Otherwise anybody may have called themselves so. */
  proven: z.boolean(),
})
export type RemotePerson = z.output<typeof remotePersonSchema>

const remoteStream = z.strictObject({
  userId: z.string(),
  source,
  /** Empty for none. */
  videoCodec: z.string(),
  audioCodec: z.string(),
  /** A host has silenced it. */
  videoMuted: z.boolean(),
  audioMuted: z.boolean(),
  /** Its sound tells how loud it is (RFC 6464), and whether that is speech now. */
  tellsLevel: z.boolean(),
  speaks: z.boolean(),
  /** There is a smaller picture of it. */
  small: z.boolean(),
})
export type RemoteStream = z.output<typeof remoteStream>

/** People and streams of such a room, without those who came through the program that gets this. */
export const remoteRoomSchema = z.strictObject({
  roomId,
  people: z.array(remotePersonSchema),
  streams: z.array(remoteStream),
})
export type RemoteRoom = z.output<typeof remoteRoomSchema>

/** Somebody is no longer in the room on the node of its media. */
export const remoteOutSchema = z.strictObject({ roomId, userId, reason: z.enum(['kicked', 'restarting']) })
