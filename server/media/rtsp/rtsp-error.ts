import { errorCode } from '../../../shared/error-code.ts'
import type { DeviceErrorKind } from '../../../shared/device.ts'
import { ExpectedError } from '../../../shared/expected-error.ts'

/** The kinds of failure that a pull by itself can have (the others of `deviceErrorKinds` are the room's or the controller's). */
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
>

/** A camera could not be pulled, or its stream ended. The message is for the log and never holds a login. */
export class RtspError extends ExpectedError {
  readonly kind: RtspErrorKind
  /** RTSP status code; 0 when no answer caused it. */
  readonly status: number
  constructor(kind: RtspErrorKind, message: string, status = 0, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RtspError'
    this.kind = kind
    this.status = status
  }
}

/** Kinds of errors of the operating system and TLS, by their code. */
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
  // OpenSSL's verification errors, as Node names them.
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate',
  UNABLE_TO_GET_ISSUER_CERT: 'certificate',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate',
  CERT_HAS_EXPIRED: 'certificate',
  CERT_NOT_YET_VALID: 'certificate',
  CERT_UNTRUSTED: 'certificate',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate',
}

/** The failure of a socket as an RtspError; no TLS at all is `protocol`. */
export function socketError(cause: unknown): RtspError {
  if (cause instanceof RtspError) return cause
  const code = errorCode(cause)
  const kind = kindsByCode[code] ?? 'protocol'
  return new RtspError(kind, code === '' ? 'the connection failed' : `the connection failed (${code})`, 0, { cause })
}

/** Failure for an error of a handler: an RtspError as it is; any other one is unexpected, and its cause is logged whole at the end of the session. */
export function failureOf(cause: unknown): RtspError {
  return cause instanceof RtspError
    ? cause
    : new RtspError('nodeFailed', 'the session failed in the node', 0, { cause })
}

/** An answer that is not 200, by the kind that it means (RFC 2326, section 11). */
export function statusError(method: string, status: number): RtspError {
  const kind: RtspErrorKind =
    status === 401 || status === 403 || status === 407
      ? 'auth'
      : status === 404 || status === 410
        ? 'notFound'
        : 'protocol'
  return new RtspError(kind, `${method} was answered ${status}`, status)
}
