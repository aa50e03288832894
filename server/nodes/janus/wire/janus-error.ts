import { NodeError } from '../../port/media-node-port.ts'

/** Error codes of Janus: of the core (4xx of `janus_error`), and of its plugins. */
export const janusCodes = {
  /** Core: neither the API secret nor a token that counts. */
  unauthorized: 403,
  /** Core: the session is over, or was never there. */
  noSession: 458,
  /** Core: the handle is over. */
  noHandle: 459,
  /** Core: a session description that it cannot use. */
  badDescription: 465,
  /** Core: the plugin is not loaded. */
  noPlugin: 460,
  /** VideoRoom. */
  noRoom: 426,
  /** VideoRoom. */
  roomExists: 427,
  /** VideoRoom: no such user or feed. */
  noFeed: 428,
  /** VideoRoom: as many publish as may. */
  publishersFull: 432,
  /** VideoRoom: wrong secret, pin or token. */
  roomUnauthorized: 433,
  /** VideoRoom: this participant publishes already. */
  alreadyPublished: 434,
  /** VideoRoom: somebody with this id is in the room. */
  idTaken: 436,
  /** Streaming. */
  noMountpoint: 455,
  /** Streaming: it could not be made; for an RTSP address that is all that is ever said. */
  cannotCreate: 456,
  /** Streaming: wrong secret, pin or admin key. */
  mountpointUnauthorized: 457,
} as const

/** Janus said no: its own words, for the log. */
export class JanusError extends NodeError {
  override readonly name = 'JanusError'
  /** See `janusCodes`: a number of the core or of the plugin that was asked. */
  readonly code: number

  constructor(code: number, reason: string) {
    super(`${reason} (${code})`)
    this.code = code
  }
}

/** Whether an error is Janus's answer with one of these codes. */
export function isJanusError(error: unknown, ...codes: readonly number[]): error is JanusError {
  return error instanceof JanusError && codes.includes(error.code)
}
