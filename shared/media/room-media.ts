import { z } from 'zod'
import { ExpectedError } from '../expected-error.ts'
import { maxTicket } from './remote-media.ts'
import { streamSources } from './stream-source.ts'

/**
 * Requests on the media of a room on another node. The program of the room page sends them, and the controller answers.
 * Browsers send their media directly to that node.
 */

const roomId = z.string().min(1).max(128)
const userId = z.string().min(1).max(128)
const streamId = z.string().min(1).max(160)
/** Displayed height of the picture, in device pixels; null: unknown. */
const height = z.int().min(0).nullable()
const sdp = z.string().max(64 * 1024)
const session = z.string().min(1).max(64)
/**
 * Lets the next program, or the next controller, resume the media; sealed by the controller, and kept by the page.
 * Empty if it cannot be resumed.
 */
const ticket = z.string().max(maxTicket)

/** Opened session; `sdp` answers the browser's offer, or is an offer for the browser, or is empty. */
const opened = z.strictObject({ session, sdp, ticket })
const nothing = z.strictObject({})

/** Each method with its parameters and its result. */
export const roomMediaMethods = {
  /** A browser sends media: resolves to the answer to its offer. */
  publish: {
    params: z.strictObject({ roomId, userId, source: z.enum(streamSources), offer: sdp }),
    result: opened,
  },
  /** A browser receives a stream: resolves to the node's offer. */
  watch: {
    params: z.strictObject({
      roomId,
      /** null: an invisible viewer. */
      userId: userId.nullable(),
      streamId,
      height,
      /** Whether the smaller picture is requested, if there is one. */
      small: z.boolean(),
    }),
    result: opened,
  },
  /**
   * A browser continues a session of an earlier program or controller: resolves to the session, which has no
   * description.
   */
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
  /** Sends the browser's answer to the node's offer. */
  answer: { params: z.strictObject({ session, answer: sdp }), result: nothing },
  /** Sends further addresses of the browser. */
  trickle: {
    params: z.strictObject({
      session,
      candidates: z.array(z.strictObject({ candidate: z.string().max(1_000), mid: z.string().max(64) })).max(200),
    }),
    result: nothing,
  },
  /**
   * The browser restarts ICE (RFC 8445, section 9): resolves to a description of the node's end in the new ICE session.
   */
  restart: {
    params: z.strictObject({
      session,
      userFragment: z.string().min(4).max(256),
      password: z.string().min(22).max(256),
    }),
    result: z.strictObject({ sdp }),
  },
  /**
   * Sets the displayed height of the picture, in device pixels; 0: hidden. Does nothing if the session does not exist.
   */
  resize: { params: z.strictObject({ session, height: z.int().min(0) }), result: nothing },
  /** Ends the session. Idempotent. */
  end: { params: z.strictObject({ session }), result: nothing },
} as const

type Methods = typeof roomMediaMethods
export type RoomMediaMethod = keyof Methods
export type RoomMediaParams<M extends RoomMediaMethod> = z.output<Methods[M]['params']>
export type RoomMediaResult<M extends RoomMediaMethod> = z.output<Methods[M]['result']>

/** The media of rooms: `publish`, `watch`, and the later requests of a session. */
export type RoomMedia = {
  [M in RoomMediaMethod]: (params: RoomMediaParams<M>, signal: AbortSignal) => Promise<RoomMediaResult<M>>
}

/** Creates a `RoomMedia` from one function for all methods. */
export function roomMediaBy(
  call: <M extends RoomMediaMethod>(
    method: M,
    params: RoomMediaParams<M>,
    signal: AbortSignal,
  ) => Promise<RoomMediaResult<M>>,
): RoomMedia {
  const methods = Object.keys(roomMediaMethods) as RoomMediaMethod[]
  // The table contains all methods, but the compiler cannot derive this from `fromEntries`.
  return Object.fromEntries(
    methods.map((method) => [method, (params: never, signal: AbortSignal) => call(method, params, signal)]),
  ) as unknown as RoomMedia
}

/** Reasons of failed calls. */
export const mediaRefusals = ['noRoom', 'noStream', 'noSession', 'tooManyVideos', 'badOffer', 'busy'] as const
export type MediaRefusalName = (typeof mediaRefusals)[number]

/** A call was refused. */
export class MediaRefusal extends ExpectedError {
  override readonly name = 'MediaRefusal'
  readonly refusal: MediaRefusalName
  constructor(refusal: MediaRefusalName, options?: ErrorOptions) {
    super(`the media of the room was refused: ${refusal}`, options)
    this.refusal = refusal
  }
}
