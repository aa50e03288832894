import { z } from 'zod'
import type { Complaint } from '../refusals/complaints.ts'
import type { Refusal } from '../refusals/refusal.ts'
import { type ConsoleErrorCode, consoleErrorCodes } from '../refusals/template.ts'
import { type EditConflict, editConflict } from './edit-conflict.ts'

/** Values of a refusal or complaint, by name. */
const values = z.record(z.string(), z.union([z.string(), z.number()]))

/** Problem of one input field, in the same form on all transports. */
export const fieldProblem = z.strictObject({
  /** Dotted path in the input, e.g. `addresses.0.addr`. */
  path: z.string(),
  /** English message for logs and scripts; the console creates its text from `name` and `values`. */
  message: z.string(),
  /** Name of a refusal or complaint in `shared/refusals/`; versions before 2 do not send it. */
  name: z.string().optional(),
  values: values.optional(),
})
export type FieldProblem = z.output<typeof fieldProblem>

/** Returns the field problem for a refusal or a complaint. */
export function problemAt(path: string, { name, values, message }: Refusal | Complaint): FieldProblem {
  return { path, name, values: { ...values }, message }
}

/** Result of a procedure, in the same form on all transports. */
export type ConsoleResult<T> = { ok: true; value: T } | { ok: false; error: ConsoleRefusal }

/** Reason why a request was rejected, in the same form on all transports. */
export const consoleRefusal = z.strictObject({
  code: z.enum(consoleErrorCodes),
  /** Message in one English sentence. */
  message: z.string(),
  problems: z.array(fieldProblem).optional(),
  /** Stable name in `shared/refusals/`; a newer controller may send further names. */
  name: z.string(),
  values: values.readonly(),
  /** Conflict of an edit: fields that others have changed meanwhile. undefined: no conflict. */
  conflict: editConflict.optional(),
})
export type ConsoleRefusal = z.output<typeof consoleRefusal>

export interface RefusalDetail {
  /** Input fields to which the refusal applies. */
  fields?: readonly string[]
  /** Problems of several fields, each with its own message. */
  problems?: readonly FieldProblem[]
  conflict?: EditConflict
  cause?: unknown
}

/** Error with which a request of an operator or of the API is rejected. */
export class RefusalError extends Error {
  readonly refusal: Refusal
  /** Problems of input fields; empty: none. */
  readonly problems: readonly FieldProblem[]
  readonly conflict: EditConflict | undefined
  constructor(refused: Refusal, { fields = [], problems, conflict, cause }: RefusalDetail = {}) {
    super(refused.message, cause === undefined ? undefined : { cause })
    this.name = 'RefusalError'
    this.refusal = refused
    this.problems = problems ?? fields.map((path) => problemAt(path, refused))
    this.conflict = conflict
  }

  get code(): ConsoleErrorCode {
    return this.refusal.code
  }
}

/** Result of a bulk procedure: the number of successes, and the failure of each other item. */
export const bulkOutcome = z.strictObject({
  done: z.int(),
  failed: z.array(
    z.strictObject({
      key: z.string(),
      message: z.string(),
      name: z.string().optional(),
      values: values.optional(),
    }),
  ),
})
/** Time in milliseconds since the epoch; 0: never. */
export const moment = z.number()
/** Input of a procedure without parameters: `{}` or no input. */
export const emptyOutcome = z.strictObject({}).default({})
export const done = z.strictObject({})
