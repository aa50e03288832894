/**
 * The two result code tables (specification, section 7) as named domain errors. Handlers use the names; only this file
 * contains the numbers.
 */

import { apiRefusals } from './refusals/api.ts'
import type { Complaint } from './refusals/complaints.ts'
import { type Refusal, refusal } from './refusals/refusal.ts'

/** API that responds. */
export type ApiName = 'media' | 'device'

/** `ret` of a domain error on each API; undefined: that API never returns the error. */
interface ResultCode {
  media?: number
  device?: number
}

const table = {
  authenticationFailed: { media: 401, device: 401 },
  tooManyFailures: { media: 401, device: 401 },
  authenticationTimeout: { media: 504, device: 310 },
  tokenIncorrect: { media: 602, device: 401 },
  parameter: { media: 407, device: 401 },
  notSupported: { media: 408, device: 401 },
  roomNotFound: { media: 404, device: 424 },
  roomClosed: { media: 416, device: 424 },
  licenceExpired: { media: 405, device: 426 },
  licenceExceeded: { media: 411, device: 426 },
  noNode: { media: 410, device: 426 },
  nodeTimeout: { media: 409, device: 310 },
  nodeOffline: { media: 417, device: 426 },
  neverAssigned: { media: 428 },
  userNotOnline: { media: 429, device: 425 },
  recordingNotFound: { media: 430, device: 430 },
  recordingUnavailable: { media: 431, device: 302 },
  noP2pPermission: { media: 701 },
  storage: { media: 700 },
  internal: { media: 700 },
  userExists: { device: 423 },
  outgoingUserNotFound: { device: 425 },
  joinFailed: { device: 426 },
  joinTimeout: { device: 427 },
  createUnavailable: { device: 302 },
  destroyUnavailable: { device: 303 },
  listUnavailable: { device: 304 },
} as const satisfies Record<keyof typeof apiRefusals, ResultCode>

export type ErrorName = keyof typeof table

const numbers: Readonly<Record<ErrorName, ResultCode>> = table

export const errorNames = Object.keys(table).filter((name): name is ErrorName => Object.hasOwn(table, name))

/** Returns the default English sentence of a domain error. */
export function sentenceOf(name: ErrorName): string {
  return apiRefusals[name][1]
}

/** `ret` of a success, on both APIs. */
export const success = 0

/**
 * Returns the `ret` of a domain error on one API; undefined: that API has no number for the error, which is a bug. In
 * that case the caller returns the generic failure of its operation.
 */
export function retOf(api: ApiName, name: ErrorName): number | undefined {
  return numbers[name][api]
}

export interface ErrorDetail {
  /** More specific refusal; its sentence replaces the default sentence. */
  refusal?: Refusal
  /** Problem of `field`. */
  complaint?: Complaint
  field?: string
  /** Reason for the operator only, never sent to a caller of an API. */
  reason?: string
  cause?: unknown
}

/**
 * Expected failure of an operation or a console procedure, returned to the caller with its code and message. The
 * message is one sentence that says what the caller must correct. It never contains a secret.
 */
export class ApiError extends Error {
  readonly code: ErrorName
  readonly field: string | undefined
  readonly reason: string | undefined
  /** Complaint about `field`, if this is the whole error. */
  readonly complaint: Complaint | undefined
  readonly #refusal: Refusal | undefined

  /**
   * A failure of the store always needs a refusal, which contains whether the outcome is certain. `notStored` and
   * `outcomeUnknown` of the store create such errors.
   */
  constructor(code: Exclude<ErrorName, 'storage'>, detail?: ErrorDetail)
  constructor(code: ErrorName, detail: ErrorDetail & Required<Pick<ErrorDetail, 'refusal'>>)
  constructor(code: ErrorName, { refusal: narrower, complaint, field, reason, cause }: ErrorDetail = {}) {
    super(
      complaint === undefined ? (narrower?.message ?? sentenceOf(code)) : `${field ?? 'It'} ${complaint.message}`,
      cause === undefined ? undefined : { cause },
    )
    this.name = 'ApiError'
    this.code = code
    this.field = field
    this.reason = reason
    this.complaint = complaint
    this.#refusal = narrower
  }

  /** Refusal that a console procedure returns for this error. */
  get refusal(): Refusal {
    if (this.complaint === undefined) return this.#refusal ?? { ...refusal(this.code), message: this.message }
    const values = { field: this.field ?? '', problem: this.complaint.message }
    return { ...refusal('inputInvalid', values), message: this.message }
  }

  /** Returns a copy of this error with another cause. */
  withCause(cause: unknown): ApiError {
    const { code, field, reason, complaint } = this
    return new ApiError(code, {
      cause,
      refusal: this.#refusal ?? refusal(code),
      ...(complaint === undefined ? {} : { complaint }),
      ...(field === undefined ? {} : { field }),
      ...(reason === undefined ? {} : { reason }),
    })
  }
}
