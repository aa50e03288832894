import { errorCode } from '../../../shared/error-code.ts'
import { type ObjectProblem, objectProblemMessages } from '../../../shared/recordings/object-storage.ts'
import { isOfCertificate } from '../../edge/outgoing-tls.ts'

/** Thrown if a request to the object storage fails. */
export class ObjectError extends Error {
  override readonly name = 'ObjectError'
  readonly problem: ObjectProblem
  /** Error name of the service or the system, e.g. `AccessDenied`; empty if unknown. */
  readonly detail: string

  constructor(problem: ObjectProblem, detail = '', cause?: unknown) {
    super(detail === '' ? objectProblemMessages[problem] : `${objectProblemMessages[problem]} (${detail})`, { cause })
    this.problem = problem
    this.detail = detail
  }

  /** Whether the problem concerns one object only; other objects may be usable. */
  get isOfObject(): boolean {
    return this.problem === 'mismatch' || this.problem === 'missing'
  }
}

/** Problems by the error code in a response (docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html). */
const byCode: Readonly<Record<string, ObjectProblem>> = {
  AccessDenied: 'denied',
  AccountProblem: 'denied',
  AllAccessDisabled: 'denied',
  AuthorizationHeaderMalformed: 'region',
  BadDigest: 'mismatch',
  IncompleteBody: 'mismatch',
  InvalidAccessKeyId: 'keyUnknown',
  InvalidDigest: 'mismatch',
  NoSuchBucket: 'bucket',
  NoSuchKey: 'missing',
  PermanentRedirect: 'region',
  QuotaExceeded: 'full',
  RequestTimeTooSkewed: 'clock',
  SignatureDoesNotMatch: 'signature',
  TemporaryRedirect: 'region',
  XAmzContentSHA256Mismatch: 'mismatch',
  XMinioStorageFull: 'full',
}

/**
 * Returns the problem of an error response.
 * @param body beginning of the body, XML
 * @param ofObject whether the request was for an object
 */
export function problemOfAnswer(status: number, body: string, ofObject: boolean): ObjectError {
  const [, code = ''] = /<Code>(\w{1,64})<\/Code>/.exec(body) ?? []
  const known = Object.hasOwn(byCode, code) ? byCode[code] : undefined
  if (known !== undefined) return new ObjectError(known, code)
  const detail = code === '' ? `HTTP ${status}` : code
  if (code !== '') return new ObjectError('refused', detail)
  if (status === 403) return new ObjectError('denied', detail)
  // Responses to HEAD have no body.
  if (status === 404 && ofObject) return new ObjectError('missing', detail)
  if (status === 507) return new ObjectError('full', detail)
  if (status >= 500) return new ObjectError('refused', detail)
  return new ObjectError('noService', detail)
}

const ofNetwork: Readonly<Record<string, ObjectProblem>> = {
  ENOTFOUND: 'notFound',
  EAI_AGAIN: 'notFound',
  ECONNREFUSED: 'unreachable',
  ECONNRESET: 'unreachable',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EPIPE: 'unreachable',
  ETIMEDOUT: 'silent',
}

/** Returns the problem of a request without a response. */
export function problemOfRequest(error: unknown): ObjectError {
  if (error instanceof ObjectError) return error
  const name = errorCode(error)
  const known = Object.hasOwn(ofNetwork, name) ? ofNetwork[name] : undefined
  if (known !== undefined) return new ObjectError(known, name, error)
  if (isOfCertificate(name)) return new ObjectError('certificate', name, error)
  if (/^HPE_|SSL|EPROTO/.test(name)) return new ObjectError('noService', name, error)
  return new ObjectError('unreachable', name, error)
}
