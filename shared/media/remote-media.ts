import { z } from 'zod'
import { roomUserSchema } from './room-user.ts'
import { streamSources } from './stream-source.ts'

/**
 * Rooms with their media on another node: the process of the room page admits and removes users, and asks the controller for everything about media. Browsers
 * send their media directly to that server.
 */

/** Maximum length of a sealed ticket, in characters. */
export const maxTicket = 4_096

const roomId = z.string().min(1).max(128)
const userId = z.string().min(1).max(128)
const source = z.enum(streamSources)

/** A user of such a room who did not join through this process: a camera, or a client of the other server. */
const remotePersonSchema = roomUserSchema.extend({
  /** The id is proven, or a camera's. Otherwise anybody may have chosen it. */
  proven: z.boolean(),
})
export type RemotePerson = z.output<typeof remotePersonSchema>

const remoteStream = z.strictObject({
  userId: z.string(),
  source,
  /** Empty: none. */
  videoCodec: z.string(),
  audioCodec: z.string(),
  /** A host has muted it. */
  videoMuted: z.boolean(),
  audioMuted: z.boolean(),
  /** Its sound has audio levels (RFC 6464), and the current one is speech. */
  tellsLevel: z.boolean(),
  speaks: z.boolean(),
  /** It has a substream. */
  small: z.boolean(),
})
export type RemoteStream = z.output<typeof remoteStream>

/** Users and streams in such a room, except those who joined through the receiving process. */
export const remoteRoomSchema = z.strictObject({
  roomId,
  people: z.array(remotePersonSchema),
  streams: z.array(remoteStream),
})
export type RemoteRoom = z.output<typeof remoteRoomSchema>

/** A user has left the room on the node of its media. */
export const remoteOutSchema = z.strictObject({ roomId, userId, reason: z.enum(['kicked', 'restarting']) })
