import { z } from 'zod'

/** One action or query of an operator: the same over IPC, WebSocket and `POST /rpc/<name>`. */
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

/** A problem of one input field. */
export interface FieldProblem {
  /** Dotted path in the input, e.g. `addresses.0.addr`. */
  path: string
  message: string
}

/** Codes of a refused procedure. */
export type ConsoleErrorCode =
  /** The input is malformed: `problems` names the fields. */
  | 'invalid'
  | 'notFound'
  /** The object exists already, or the state forbids the action. */
  | 'conflict'
  | 'unauthorized'
  /** The caller's role does not permit it: the message names the required one. */
  | 'forbidden'
  /** This controller is a read-only replica: the message names the leader. */
  | 'standby'
  /** The node, device or disk failed, or timed out. */
  | 'failed'
  | 'internal'

/** The result of every procedure, on every transport. */
export type ConsoleResult<T> = { ok: true; value: T } | { ok: false; error: ConsoleRefusal }

/** Values for a page that translates a refusal. */
export type RefusalValues = Readonly<Record<string, string | number>>

/** Reason of a refusal. */
export interface ConsoleRefusal {
  code: ConsoleErrorCode
  /** One plain sentence in English. */
  message: string
  problems?: FieldProblem[]
  /** Stable name of the refusal, e.g. `passwordNeeded`, for callers that react to it. */
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
  /** Name and values for callers that react to it. */
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

/** Result of each item of a bulk procedure. */
export const bulkOutcome = z.strictObject({
  done: z.int(),
  failed: z.array(z.strictObject({ key: z.string(), message: z.string() })),
})
/** Milliseconds since the epoch; 0 is never. */
export const moment = z.number()
/** A procedure without input takes `{}` (or nothing). */
export const nothing = z.strictObject({}).default({})
export const done = z.strictObject({})
