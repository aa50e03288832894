import { z } from 'zod'
import { ExpectedError } from '../expected-error.ts'
import { maxTicket } from './remote-media.ts'
import { streamSources } from './stream-source.ts'

/**
 * Requests on the media of a room that is on another node. The program of the room page sends them, the controller answers.
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

/** Makes `RoomMedia` of one function for all methods. */
export function roomMediaBy(
  call: <M extends RoomMediaMethod>(
    method: M,
    params: RoomMediaParams<M>,
    signal: AbortSignal,
  ) => Promise<RoomMediaResult<M>>,
): RoomMedia {
  const methods = Object.keys(roomMediaMethods) as RoomMediaMethod[]
  // The table has all methods; the compiler cannot follow that through `fromEntries`.
  return Object.fromEntries(
    methods.map((method) => [method, (params: never, signal: AbortSignal) => call(method, params, signal)]),
  ) as unknown as RoomMedia
}

/** Reasons why a call fails. */
export const mediaRefusals = ['noRoom', 'noStream', 'noSession', 'tooManyVideos', 'badOffer', 'busy'] as const
export type MediaRefusalName = (typeof mediaRefusals)[number]

/** A call that was refused. */
export class MediaRefusal extends ExpectedError {
  override readonly name = 'MediaRefusal'
  readonly refusal: MediaRefusalName
  constructor(refusal: MediaRefusalName, options?: ErrorOptions) {
    super(`the media of the room was refused: ${refusal}`, options)
    this.refusal = refusal
  }
}
