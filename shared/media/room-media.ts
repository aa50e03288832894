import { z } from 'zod'
import { ExpectedError } from '../expected-error.ts'
import { maxTicket } from './remote-media.ts'
import { streamSources } from './stream-source.ts'

/**
 * Requests about the media of a room whose media is on another node. The program that serves the room page sends them,
 * and the controller responds. Browsers send their media directly to the other node.
 */

const roomId = z.string().min(1).max(128)
const userId = z.string().min(1).max(128)
const streamId = z.string().min(1).max(160)
/** Displayed height of the picture, in device pixels; null: unknown. */
const height = z.int().min(0).nullable()
const sdp = z.string().max(64 * 1024)
const session = z.string().min(1).max(64)
/**
 * Ticket with which another program or another controller can resume the media. The controller seals it, and the page
 * stores it. Empty: the media cannot be resumed.
 */
const ticket = z.string().max(maxTicket)

/** Opened session. `sdp`: the answer to the browser's offer, or an offer to the browser; empty: neither. */
const opened = z.strictObject({ session, sdp, ticket })
const nothing = z.strictObject({})

/** Each method with its parameters and its result. */
export const roomMediaMethods = {
  /** Starts sending media from a browser. Resolves to the answer to the browser's offer. */
  publish: {
    params: z.strictObject({ roomId, userId, source: z.enum(streamSources), offer: sdp }),
    result: opened,
  },
  /** Starts sending a stream to a browser. Resolves to the node's offer. */
  watch: {
    params: z.strictObject({
      roomId,
      /** User who watches; null: an invisible viewer. */
      userId: userId.nullable(),
      streamId,
      height,
      /** Whether to send the smaller picture if it exists. */
      small: z.boolean(),
    }),
    result: opened,
  },
  /** Continues a session of an earlier program or controller. Resolves to the session, with an empty `sdp`. */
  resume: {
    params: z.strictObject({
      roomId,
      userId,
      /** Id of the stream, as in `publish` or `watch`. */
      streamId,
      sends: z.boolean(),
      height,
      ticket,
      /** Session description of the browser's end. */
      sdp,
    }),
    result: opened,
  },
  /** Sends the browser's answer to the node's offer. */
  answer: { params: z.strictObject({ session, answer: sdp }), result: nothing },
  /** Sends further ICE candidates of the browser. */
  trickle: {
    params: z.strictObject({
      session,
      candidates: z.array(z.strictObject({ candidate: z.string().max(1_000), mid: z.string().max(64) })).max(200),
    }),
    result: nothing,
  },
  /**
   * Restarts ICE for the browser (RFC 8445, section 9). Resolves to a description of the node's end for the new ICE
   * session.
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

/** Methods for the media of rooms: `publish`, `watch`, and the later requests of a session. */
export type RoomMedia = {
  [M in RoomMediaMethod]: (params: RoomMediaParams<M>, signal: AbortSignal) => Promise<RoomMediaResult<M>>
}

/** Creates a `RoomMedia` whose methods all call one function. */
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

/** Reasons why a request about media was rejected. */
export const mediaRefusals = ['noRoom', 'noStream', 'noSession', 'tooManyVideos', 'badOffer', 'busy'] as const
export type MediaRefusalName = (typeof mediaRefusals)[number]

/** A request about media was rejected. */
export class MediaRefusal extends ExpectedError {
  override readonly name = 'MediaRefusal'
  readonly refusal: MediaRefusalName
  constructor(refusal: MediaRefusalName, options?: ErrorOptions) {
    super(`the media of the room was refused: ${refusal}`, options)
    this.refusal = refusal
  }
}
