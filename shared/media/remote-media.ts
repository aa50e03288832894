import { z } from 'zod'
import { roomUserSchema } from './room-user.ts'
import { streamSources } from './stream-source.ts'

/**
 * Rooms whose media is on another node. The program that serves the room page admits and removes people, and forwards
 * all requests about media to the controller. Browsers send their media directly to that node.
 */

/** Maximum length of a sealed ticket, in characters. */
export const maxTicket = 4_096

const roomId = z.string().min(1).max(128)
const userId = z.string().min(1).max(128)
const source = z.enum(streamSources)

/**
 * Participant of a room with remote media who did not join through this program: a camera, or a client of the other
 * server.
 */
const remotePersonSchema = roomUserSchema.extend({
  /** Whether they have proved their id, or are a camera. Otherwise any client may have chosen this id. */
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
  /** Whether its sound contains audio levels (RFC 6464), and whether it is speech now. */
  tellsLevel: z.boolean(),
  speaks: z.boolean(),
  /** Whether there is a smaller version of its picture. */
  small: z.boolean(),
})
export type RemoteStream = z.output<typeof remoteStream>

/** People and streams of a room with remote media, without those of the receiving program. */
export const remoteRoomSchema = z.strictObject({
  roomId,
  people: z.array(remotePersonSchema),
  streams: z.array(remoteStream),
})
export type RemoteRoom = z.output<typeof remoteRoomSchema>

/** A participant is no longer in the room on its media node. */
export const remoteOutSchema = z.strictObject({ roomId, userId, reason: z.enum(['kicked', 'restarting']) })
