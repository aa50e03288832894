/** The two result code tables (specification, section 7) as named domain errors. Handlers use names; only this file knows numbers. */

/** Listener that answers. */
export type ApiName = 'media' | 'device'

/** Answer for one domain error: its `ret` on each API (missing: that API never returns it) and its default sentence. */
interface ResultCode {
  media?: number
  device?: number
  message: string
}

const table = {
  authenticationFailed: { media: 401, device: 401, message: 'access_key or digest is wrong.' },
  tooManyFailures: {
    media: 401,
    device: 401,
    message: 'Too many failed authentications from this address: wait a minute.',
  },
  authenticationTimeout: {
    media: 504,
    device: 310,
    message: 'The authentication was not answered in time: try again.',
  },
  tokenIncorrect: {
    media: 602,
    device: 401,
    message: 'The access token is missing, wrong or expired: authenticate again.',
  },
  parameter: { media: 407, device: 401, message: 'A parameter is missing or malformed.' },
  notSupported: { media: 408, device: 401, message: 'This path or method does not exist.' },
  roomNotFound: { media: 404, device: 424, message: 'There is no such room.' },
  roomClosed: { media: 416, device: 424, message: 'The room is closed.' },
  licenceExpired: { media: 405, device: 426, message: 'The licence of this site has expired.' },
  licenceExceeded: {
    media: 411,
    device: 426,
    message: 'The licence or the MCU nodes of this site are at their limit.',
  },
  noNode: { media: 410, device: 426, message: 'No MCU is available for this room.' },
  nodeTimeout: { media: 409, device: 310, message: 'The MCU did not answer in time.' },
  nodeOffline: { media: 417, device: 426, message: 'The MCU of this room is not online.' },
  neverAssigned: { media: 428, message: 'This room was never assigned to an MCU.' },
  userNotOnline: { media: 429, message: 'The user is not in this room.' },
  noP2pPermission: { media: 701, message: 'This credential has no permission for P2P rooms (room_mode 3 and 4).' },
  storage: { media: 700, message: 'The change could not be stored: nothing was changed.' },
  internal: { media: 700, message: 'An internal error occurred and was logged.' },
  userExists: { device: 423, message: 'A user with this userId exists already.' },
  outgoingUserNotFound: { device: 425, message: 'There is no such outgoing user in this room.' },
  joinFailed: { device: 426, message: 'Joining the room failed.' },
  joinTimeout: { device: 427, message: 'The device did not answer in time.' },
  createUnavailable: {
    device: 302,
    message: 'The outgoing user could not be created: the media engine is not running.',
  },
  destroyUnavailable: {
    device: 303,
    message: 'The outgoing user could not be deleted: the media engine is not running.',
  },
  listUnavailable: { device: 304, message: 'Outgoing users cannot be listed: the media engine is not running.' },
} as const satisfies Record<string, ResultCode>

/** Name of a domain error. */
export type ErrorName = keyof typeof table

/** Every domain error by name, with its numbers and default sentence. */
export const resultCodes: Readonly<Record<ErrorName, ResultCode>> = table

/** `ret` of a success, on both APIs. */
export const success = 0

/**
 * The `ret` of a domain error on one API, or undefined when that API has no number for it
 * (a bug: the caller answers the generic failure of its operation).
 */
export function retOf(api: ApiName, name: ErrorName): number | undefined {
  return resultCodes[name][api]
}

/**
 * A known failure of an operation or a console procedure: answered to the caller with its code and message.
 * The message is one plain sentence that tells the caller what to correct, and never contains a secret.
 */
export class ApiError extends Error {
  readonly code: ErrorName
  /** Name of the invalid parameter, if there is one. */
  readonly field: string | undefined
  /** Reason for the operator only: never sent to an API caller. */
  readonly reason: string | undefined

  constructor(code: ErrorName, options: { message?: string; field?: string; reason?: string; cause?: unknown } = {}) {
    super(
      options.message ?? resultCodes[code].message,
      options.cause === undefined ? undefined : { cause: options.cause },
    )
    this.name = 'ApiError'
    this.code = code
    this.field = options.field
    this.reason = options.reason
  }
}
