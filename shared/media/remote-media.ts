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
const sdp = z.string().max(64 * 1024)
const session = z.string().min(1).max(64)
const source = z.enum(streamSources)
/** What lets the next program, or the next controller, go on with media as it is; sealed by the controller, and kept by the page that it is of. Empty where there is none. */
const ticket = z.string().max(maxTicket)

/** What the program wants of the media of such a room. */
export const mediaWishSchema = z.discriminatedUnion('act', [
  /** A browser sends: its offer is to be answered. */
  z.strictObject({ act: z.literal('publish'), roomId, userId, source, offer: sdp }),
  /** A browser is to be sent a stream: the server offers. */
  z.strictObject({
    act: z.literal('watch'),
    roomId,
    /** null: unseen. */
    userId: userId.nullable(),
    streamId: z.string().min(1).max(160),
    /** How high its picture is shown, in device pixels; null: not known. */
    height: z.int().min(0).nullable(),
    /** The smaller picture is wanted, where there is one. */
    small: z.boolean(),
  }),
  /** A browser sends or is sent already, by an earlier program or controller: that goes on. `sdp`: its own description. */
  z.strictObject({
    act: z.literal('claim'),
    roomId,
    userId,
    /** As in publish or watch. */
    streamId: z.string().min(1).max(160),
    sends: z.boolean(),
    height: z.int().min(0).nullable(),
    ticket,
    sdp,
  }),
  /** What a browser answers to such an offer. */
  z.strictObject({ act: z.literal('start'), session, answer: sdp }),
  /** A browser begins ICE anew: `sdp` of the outcome describes the other end in the new ICE session. */
  z.strictObject({
    act: z.literal('restart'),
    session,
    userFragment: z.string().min(4).max(256),
    password: z.string().min(22).max(256),
  }),
  /** Addresses that a browser found later. */
  z.strictObject({
    act: z.literal('trickle'),
    session,
    candidates: z.array(z.strictObject({ candidate: z.string().max(1_000), mid: z.string().max(64) })).max(200),
  }),
])
export type MediaWish = z.output<typeof mediaWishSchema>

/** Why it is not done. */
const mediaRefusals = ['noRoom', 'noStream', 'noSession', 'tooManyVideos', 'badOffer', 'busy'] as const
export type MediaRefusalName = (typeof mediaRefusals)[number]

/** What becomes of a wish. */
export const mediaOutcomeSchema = z.discriminatedUnion('done', [
  /** `sdp` is empty where nothing is described. */
  z.strictObject({ done: z.literal(true), session: z.string(), sdp: z.string(), ticket }),
  z.strictObject({ done: z.literal(false), refusal: z.enum(mediaRefusals) }),
])
export type MediaOutcome = z.output<typeof mediaOutcomeSchema>

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

/** Who and what is in such a room, besides who came through the program that is told. */
export const remoteRoomSchema = z.strictObject({
  roomId,
  people: z.array(remotePersonSchema),
  streams: z.array(remoteStream),
})
export type RemoteRoom = z.output<typeof remoteRoomSchema>

/** Somebody is no longer in the room on the node of its media. */
export const remoteOutSchema = z.strictObject({ roomId, userId, reason: z.enum(['kicked', 'restarting']) })
