import { errorCode } from '../../../shared/error-code.ts'
import type { DeviceErrorKind } from '../../../shared/device.ts'
import { ExpectedError } from '../../../shared/expected-error.ts'
import { isRedirection } from './leniency.ts'

/** Kinds of failures of a pull. The other `deviceErrorKinds` concern the room or the controller. */
export type RtspErrorKind = Extract<
  DeviceErrorKind,
  | 'auth'
  | 'notFound'
  | 'refused'
  | 'unreachable'
  | 'timeout'
  | 'protocol'
  | 'certificate'
  | 'noUsableTrack'
  | 'closed'
  | 'stalled'
  | 'nodeFailed'
  | 'forbidden'
  | 'rejected'
  | 'redirected'
  | 'oldTls'
  | 'noTransport'
  | 'srtp'
>

export interface RtspErrorFacts extends ErrorOptions {
  /**
   * Text for users: the camera's response and its request, or the camera's codecs. Short, printable ASCII, without
   * login.
   */
  detail?: string
  /** Location of a redirection as written by the camera; may contain a login. */
  location?: string
}

/** Failure to pull a camera, or end of its stream. The message is for the log and never contains a login. */
export class RtspError extends ExpectedError {
  readonly kind: RtspErrorKind
  /** RTSP status code; 0 if no response caused the failure. */
  readonly status: number
  readonly detail: string
  readonly location: string
  constructor(kind: RtspErrorKind, message: string, status = 0, facts: RtspErrorFacts = {}) {
    super(message, facts)
    this.name = 'RtspError'
    this.kind = kind
    this.status = status
    this.detail = facts.detail ?? ''
    this.location = facts.location ?? ''
  }

  /** Returns the same failure with the track of the request, e.g. `track 3 (PCMA)`. */
  ofTrack(track: string): RtspError {
    const { kind, message, status, detail, location, cause } = this
    return new RtspError(kind, `${message} for ${track}`, status, {
      cause,
      location,
      detail: detail && `${detail} of ${track}`,
    })
  }
}

/** Failure kinds of operating system and TLS errors, by error code. */
const kindsByCode: Readonly<Record<string, RtspErrorKind>> = {
  ECONNREFUSED: 'refused',
  ENOTFOUND: 'unreachable',
  EAI_AGAIN: 'unreachable',
  EAI_FAIL: 'unreachable',
  EHOSTUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ENETUNREACH: 'unreachable',
  ENETDOWN: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  EINVAL: 'unreachable',
  ETIMEDOUT: 'timeout',
  ECONNRESET: 'closed',
  EPIPE: 'closed',
  // Certificate verification errors of OpenSSL, as named by Node.
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate',
  UNABLE_TO_GET_ISSUER_CERT: 'certificate',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate',
  CERT_HAS_EXPIRED: 'certificate',
  CERT_NOT_YET_VALID: 'certificate',
  CERT_UNTRUSTED: 'certificate',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate',
  // The camera supports no version, cipher or key that is accepted by default.
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: 'oldTls',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'oldTls',
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: 'oldTls',
  'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE': 'oldTls',
  ERR_SSL_TLSV1_ALERT_INSUFFICIENT_SECURITY: 'oldTls',
  ERR_SSL_EE_KEY_TOO_SMALL: 'oldTls',
  ERR_SSL_DH_KEY_TOO_SMALL: 'oldTls',
  ERR_SSL_CA_MD_TOO_WEAK: 'oldTls',
}

/** Converts a socket error to an RtspError. Unknown codes, e.g. of a server without TLS, become `protocol`. */
export function socketError(cause: unknown): RtspError {
  if (cause instanceof RtspError) return cause
  const code = errorCode(cause)
  const kind = kindsByCode[code] ?? 'protocol'
  const detail = kind === 'protocol' || kind === 'oldTls' ? code : ''
  const message = code === '' ? 'the connection failed' : `the connection failed (${code})`
  return new RtspError(kind, message, 0, { cause, detail })
}

/**
 * Converts an error of a handler. An RtspError is returned unchanged. Any other error is unexpected; its cause is
 * logged at the end of the session.
 */
export function rtspErrorOf(cause: unknown): RtspError {
  return cause instanceof RtspError
    ? cause
    : new RtspError('nodeFailed', 'the session failed in the node', 0, { cause })
}

/**
 * Returns the error for an unsuccessful response, with the kind that the status means (RFC 2326, section 11).
 * @param text status and reason as written by the camera, e.g. `551 Option not supported`
 */
export function statusError(method: string, status: number, text = String(status), location = ''): RtspError {
  const detail = `${text} to ${method}`
  return new RtspError(kindOf(status), `${method} was answered ${status}`, status, { detail, location })
}

function kindOf(status: number): RtspErrorKind {
  if (status === 401 || status === 403 || status === 407) return 'auth'
  if (status === 404 || status === 410) return 'notFound'
  if (status === 461) return 'noTransport'
  return isRedirection(status) ? 'redirected' : 'rejected'
}
