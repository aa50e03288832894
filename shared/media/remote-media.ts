import { z } from 'zod'
import { roomUserSchema } from './room-user.ts'
import { streamSources } from './stream-source.ts'

/**
 * Rooms with remote media: their media is on another node. The program that serves the room page admits and removes
 * people, and forwards all requests about media to the controller. Browsers send their media directly to the other
 * node.
 */

/** Maximum length of a sealed ticket, in characters. */
export const maxTicket = 4_096

const roomId = z.string().min(1).max(128)
const userId = z.string().min(1).max(128)
const source = z.enum(streamSources)

/**
 * Participant of a room with remote media who did not join through this program: a camera, or a client of the media
 * node.
 */
const remotePersonSchema = roomUserSchema.extend({
  /** Whether the user has proved the id, or is a camera; false: any client may have chosen this id. */
  proven: z.boolean(),
})
export type RemotePerson = z.output<typeof remotePersonSchema>

const remoteStream = z.strictObject({
  userId: z.string(),
  source,
  /** Codec of the picture; empty: no picture. `audioCodec`: the same for the sound. */
  videoCodec: z.string(),
  audioCodec: z.string(),
  /** Whether a host has muted the picture; `audioMuted`: the sound. */
  videoMuted: z.boolean(),
  audioMuted: z.boolean(),
  /** Whether the sound contains audio levels (RFC 6464). `speaks`: whether it is speech now. */
  tellsLevel: z.boolean(),
  speaks: z.boolean(),
  /** Whether a smaller version of the picture exists. */
  small: z.boolean(),
})
export type RemoteStream = z.output<typeof remoteStream>

/** People and streams of a room with remote media, except those that joined through the receiving program. */
export const remoteRoomSchema = z.strictObject({
  roomId,
  people: z.array(remotePersonSchema),
  streams: z.array(remoteStream),
})
export type RemoteRoom = z.output<typeof remoteRoomSchema>

/** Report that a participant is no longer in the room on its media node. */
export const remoteOutSchema = z.strictObject({ roomId, userId, reason: z.enum(['kicked', 'restarting']) })
