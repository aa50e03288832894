import { z } from 'zod'
import { maxTicket } from './remote-media.ts'
import { streamSources } from './stream-source.ts'

/**
 * Methods on the media of a room that is on another node. The program of the room page calls them, the controller answers: both sides are made from this table.
 * Media of browsers goes straight to that node.
 */

const roomId = z.string().min(1).max(128)
const userId = z.string().min(1).max(128)
const streamId = z.string().min(1).max(160)
/** Height at which the picture is shown, in device pixels; null: unknown. */
const height = z.int().min(0).nullable()
const sdp = z.string().max(64 * 1024)
const session = z.string().min(1).max(64)
/** Lets the next program, or the next controller, resume the media; sealed by the controller, and kept by the page. Empty where it cannot be resumed. */
const ticket = z.string().max(maxTicket)

/** A session that was opened; `sdp` answers the browser's offer, or is an offer for it, or is empty. */
const opened = z.strictObject({ session, sdp, ticket })
const nothing = z.strictObject({})

/** Each method with its parameters and its result. */
export const roomMediaMethods = {
  /** A browser sends: resolves to the answer to its offer. */
  publish: {
    params: z.strictObject({ roomId, userId, source: z.enum(streamSources), offer: sdp }),
    result: opened,
  },
  /** A browser receives a stream: resolves to the node's offer. */
  watch: {
    params: z.strictObject({
      roomId,
      /** null: unseen. */
      userId: userId.nullable(),
      streamId,
      height,
      /** The smaller picture is wanted, where there is one. */
      small: z.boolean(),
    }),
    result: opened,
  },
  /** A browser sends or receives already, since an earlier program or controller: resolves to the session, which has no description. */
  resume: {
    params: z.strictObject({
      roomId,
      userId,
      /** Stream as in `publish` or `watch`. */
      streamId,
      sends: z.boolean(),
      height,
      ticket,
      /** Description of the browser's end. */
      sdp,
    }),
    result: opened,
  },
  /** The browser answers the node's offer. */
  answer: { params: z.strictObject({ session, answer: sdp }), result: nothing },
  /** The browser found further addresses. */
  trickle: {
    params: z.strictObject({
      session,
      candidates: z.array(z.strictObject({ candidate: z.string().max(1_000), mid: z.string().max(64) })).max(200),
    }),
    result: nothing,
  },
  /** The browser restarts ICE (RFC 8445, section 9): resolves to a description of the node's end in the new ICE session. */
  restart: {
    params: z.strictObject({
      session,
      userFragment: z.string().min(4).max(256),
      password: z.string().min(22).max(256),
    }),
    result: z.strictObject({ sdp }),
  },
  /** The picture is shown so high, in device pixels; 0: not at all. Without such a session nothing happens. */
  resize: { params: z.strictObject({ session, height: z.int().min(0) }), result: nothing },
  /** The session ends. Idempotent. */
  end: { params: z.strictObject({ session }), result: nothing },
} as const

type Methods = typeof roomMediaMethods
export type RoomMediaMethod = keyof Methods
export type RoomMediaParams<M extends RoomMediaMethod> = z.output<Methods[M]['params']>
export type RoomMediaResult<M extends RoomMediaMethod> = z.output<Methods[M]['result']>

/** The media of rooms: publish, watch, and what follows on a session. */
export type RoomMedia = {
  [M in RoomMediaMethod]: (params: RoomMediaParams<M>, signal: AbortSignal) => Promise<RoomMediaResult<M>>
}

/** One call of the table as a message. */
export const roomMediaCallSchema = z.discriminatedUnion('method', [
  z.strictObject({ method: z.literal('publish'), params: roomMediaMethods.publish.params }),
  z.strictObject({ method: z.literal('watch'), params: roomMediaMethods.watch.params }),
  z.strictObject({ method: z.literal('resume'), params: roomMediaMethods.resume.params }),
  z.strictObject({ method: z.literal('answer'), params: roomMediaMethods.answer.params }),
  z.strictObject({ method: z.literal('trickle'), params: roomMediaMethods.trickle.params }),
  z.strictObject({ method: z.literal('restart'), params: roomMediaMethods.restart.params }),
  z.strictObject({ method: z.literal('resize'), params: roomMediaMethods.resize.params }),
  z.strictObject({ method: z.literal('end'), params: roomMediaMethods.end.params }),
])
export type RoomMediaCall = z.output<typeof roomMediaCallSchema>

/** Calls the method that a message names. Rejects as that method does. */
export async function callRoomMedia(
  media: RoomMedia,
  { method, params }: RoomMediaCall,
  signal: AbortSignal,
): Promise<RoomMediaResult<RoomMediaMethod>> {
  // The message ties the parameters to the method; the compiler cannot follow that through the index.
  const run = media[method] as (
    this: RoomMedia,
    params: RoomMediaCall['params'],
    signal: AbortSignal,
  ) => Promise<RoomMediaResult<RoomMediaMethod>>
  return await run.call(media, params, signal)
}

/** Reasons why a call fails. */
const mediaRefusals = ['noRoom', 'noStream', 'noSession', 'tooManyVideos', 'badOffer', 'busy'] as const
export type MediaRefusalName = (typeof mediaRefusals)[number]

/** Outcome of a call; `result` is that of its method. */
export const mediaOutcomeSchema = z.discriminatedUnion('done', [
  z.strictObject({ done: z.literal(true), result: z.record(z.string(), z.unknown()) }),
  z.strictObject({ done: z.literal(false), refusal: z.enum(mediaRefusals) }),
])
export type MediaOutcome = z.output<typeof mediaOutcomeSchema>
