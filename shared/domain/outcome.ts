import { z } from 'zod'
import type { Complaint } from '../refusals/complaints.ts'
import type { Refusal } from '../refusals/refusal.ts'
import { type ConsoleErrorCode, consoleErrorCodes } from '../refusals/template.ts'
import { type EditConflict, editConflict } from './edit-conflict.ts'

/** Values of a refusal or a problem, by name. */
const values = z.record(z.string(), z.union([z.string(), z.number()]))

/** Problem of one input field, as all transports send it. */
export const fieldProblem = z.strictObject({
  /** Dotted path in the input, e.g. `addresses.0.addr`. */
  path: z.string(),
  /** English, for logs and scripts; the console formulates its text from name and values. */
  message: z.string(),
  /** A name of `shared/refusals/`; absent in versions before 2. */
  name: z.string().optional(),
  values: values.optional(),
})
export type FieldProblem = z.output<typeof fieldProblem>

/** Returns the field problem for a refusal or a complaint. */
export function problemAt(path: string, { name, values, message }: Refusal | Complaint): FieldProblem {
  return { path, name, values: { ...values }, message }
}

/** Result of every procedure, on all transports. */
export type ConsoleResult<T> = { ok: true; value: T } | { ok: false; error: ConsoleRefusal }

/** Reason of a refusal, the same on all transports. */
export const consoleRefusal = z.strictObject({
  code: z.enum(consoleErrorCodes),
  /** One English sentence. */
  message: z.string(),
  problems: z.array(fieldProblem).optional(),
  /** Stable name: one of `shared/refusals/`, or a name known only to a newer controller. */
  name: z.string(),
  values: values.readonly(),
  /** For an edit: fields changed by others meanwhile. */
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

/** Error that refuses a request of an operator or of the API. */
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

/** Result of each item of a bulk procedure. */
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
/** Milliseconds since the epoch; 0 is never. */
export const moment = z.number()
/** Input of a procedure without parameters: `{}`, or nothing. */
export const emptyOutcome = z.strictObject({}).default({})
export const done = z.strictObject({})
