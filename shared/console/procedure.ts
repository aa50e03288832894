import { z } from 'zod'

/** One thing an operator can do or ask: the same over IPC, WebSocket and `POST /rpc/<name>`. */
export interface Procedure<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType> {
  summary: string
  input: I
  output: O
}

/** Declares a procedure; the identity function, for inference. */
export function procedure<I extends z.ZodType, O extends z.ZodType>(
  summary: string,
  input: I,
  output: O,
): Procedure<I, O> {
  return { summary, input, output }
}

/** A fault of one field of an input. */
export interface FieldProblem {
  /** Dotted path in the input, e.g. `addresses.0.addr`. */
  path: string
  message: string
}

/** Codes of a refused procedure. */
export type ConsoleErrorCode =
  /** The input is malformed: `problems` says where. */
  | 'invalid'
  | 'notFound'
  /** Such a thing exists already, or the state forbids it. */
  | 'conflict'
  | 'unauthorized'
  /** The caller's role does not allow it: the message says which one does. */
  | 'forbidden'
  /** This controller stands by and changes nothing: the message says which one leads. */
  | 'standby'
  /** The node, device or disk did not do it, or not in time. */
  | 'failed'
  | 'internal'

/** The result of every procedure, on every transport. */
export type ConsoleResult<T> = { ok: true; value: T } | { ok: false; error: ConsoleRefusal }

/** Values with which a page words a refusal in its reader's language. */
export type RefusalValues = Readonly<Record<string, string | number>>

/** Why a procedure was refused. */
export interface ConsoleRefusal {
  code: ConsoleErrorCode
  /** One plain sentence in English. */
  message: string
  problems?: FieldProblem[]
  /** Stable name of the refusal, e.g. `passwordNeeded`, where a caller may act on it. */
  name?: string
  values?: RefusalValues
}

/** Name and values of a refusal. */
export interface RefusalName {
  name: string
  values: RefusalValues
}

/** A procedure's refusal, thrown by its handler. The message is one plain sentence. */
export class ConsoleError extends Error {
  readonly code: ConsoleErrorCode
  readonly problems: FieldProblem[] | undefined
  /** Name and values for the caller, where it may act on them. */
  readonly refused: RefusalName | undefined
  constructor(
    code: ConsoleErrorCode,
    message: string,
    options: { problems?: FieldProblem[]; cause?: unknown; refused?: RefusalName } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ConsoleError'
    this.code = code
    this.problems = options.problems
    this.refused = options.refused
  }
}

/** Outcome of each item of a bulk procedure. */
export const bulkOutcome = z.strictObject({
  done: z.int(),
  failed: z.array(z.strictObject({ key: z.string(), message: z.string() })),
})
/** Milliseconds since the epoch; 0 is never. */
export const moment = z.number()
/** A procedure without input takes `{}` (or nothing). */
export const nothing = z.strictObject({}).default({})
export const done = z.strictObject({})
