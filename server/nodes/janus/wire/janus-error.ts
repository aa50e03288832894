import { NodeError } from '../../port/media-node-port.ts'

/** Error codes of Janus: of the core (4xx of `janus_error`), and of its plugins. */
export const janusCodes = {
  /** Core: neither the API secret nor a valid token. */
  unauthorized: 403,
  /** Core: the session has ended, or never existed. */
  noSession: 458,
  /** Core: the handle no longer exists. */
  noHandle: 459,
  /** Core: the session description cannot be used. */
  badDescription: 465,
  /** Core: the plugin is not loaded. */
  noPlugin: 460,
  /** VideoRoom: the room does not exist. */
  noRoom: 426,
  /** VideoRoom: a room with this name exists. */
  roomExists: 427,
  /** VideoRoom: no such user or feed. */
  noFeed: 428,
  /** VideoRoom: the maximum number of publishers is reached. */
  publishersFull: 432,
  /** VideoRoom: wrong secret, pin or token. */
  roomUnauthorized: 433,
  /** VideoRoom: this participant already publishes. */
  alreadyPublished: 434,
  /** VideoRoom: a participant with this id is in the room. */
  idTaken: 436,
  /** Streaming: the mountpoint does not exist. */
  noMountpoint: 455,
  /** Streaming: the mountpoint could not be created. For an RTSP address, Janus gives no further reason. */
  cannotCreate: 456,
  /** Streaming: wrong secret, pin or admin key. */
  mountpointUnauthorized: 457,
} as const

/** Janus rejected a request. The message contains its reason, for the log. */
export class JanusError extends NodeError {
  override readonly name = 'JanusError'
  /** A value of `janusCodes`, or another code of the core or the plugin. */
  readonly code: number

  constructor(code: number, reason: string) {
    super(`${reason} (${code})`)
    this.code = code
  }
}

/** Returns whether an error is an answer of Janus with one of these codes. */
export function isJanusError(error: unknown, ...codes: readonly number[]): error is JanusError {
  return error instanceof JanusError && codes.includes(error.code)
}

/**
 * Returns the error code with which Janus rejects a call; 0 if the call succeeds.
 * @throws any error that is no answer of Janus
 */
export async function janusErrorOf(call: Promise<unknown>): Promise<number> {
  try {
    await call
    return 0
  } catch (error) {
    if (error instanceof JanusError) return error.code
    throw error
  }
}
