import type { Logger } from 'pino'
import type { z } from 'zod'
import { isProcedureName, procedures } from '../../shared/console/contract.ts'
import {
  type ConsoleErrorCode,
  ConsoleError,
  type ConsoleResult,
  type FieldProblem,
} from '../../shared/console/procedure.ts'
import { ApiError, type ErrorName } from '../../shared/result-codes.ts'
import type { ChangeRecorder } from './change-recorder.ts'
import type { CallOrigin, Handlers } from './handlers.ts'
import { type CallFacts, refuseCall, refuseCaller, roleOfSight } from './judge-call.ts'
import { shownTo } from './shown-to-role.ts'

/** Calls a procedure by name with an unchecked input; never rejects. */
export type Dispatch = (name: string, input: unknown, origin: CallOrigin) => Promise<ConsoleResult<unknown>>

/** How a domain error of the APIs is worded to the console. */
const codes: Partial<Record<ErrorName, ConsoleErrorCode>> = {
  parameter: 'invalid',
  roomNotFound: 'notFound',
  outgoingUserNotFound: 'notFound',
  userNotOnline: 'notFound',
  userExists: 'conflict',
  roomClosed: 'conflict',
  licenceExpired: 'conflict',
  licenceExceeded: 'conflict',
  noP2pPermission: 'conflict',
  neverAssigned: 'conflict',
  internal: 'internal',
}

/**
 * Passes every call of a procedure: judges the caller first, validates the input, records changes in the event log, turns errors into values, and logs unknown ones whole while it
 * answers them generically.
 */
export function createDispatch(
  handlers: Handlers,
  logger: Logger,
  changes: Pick<ChangeRecorder, 'before'>,
  facts: CallFacts,
): Dispatch {
  // The map of handlers is typed name by name; a name that is only known at run time needs it untyped once.
  const untyped = handlers as unknown as Record<string, (input: unknown, origin: CallOrigin) => unknown>
  return async (name, input, origin) => {
    if (!isProcedureName(name))
      return refusal('notFound', `There is no procedure named ${JSON.stringify(name.slice(0, 80))}.`)
    const refused = refuseCaller(name, origin)
    if (refused !== undefined) return { ok: false, error: refused }
    const parsed = procedures[name].input.safeParse(input ?? {})
    if (!parsed.success) {
      const problems = problemsOf(parsed.error)
      return refusal('invalid', sentenceOf(problems), problems)
    }
    const refusedNow = refuseCall(name, parsed.data, origin, facts)
    if (refusedNow !== undefined) return { ok: false, error: refusedNow }
    try {
      const handler = untyped[name]
      if (handler === undefined) return refusal('notFound', `${name} does not exist on this machine.`)
      const tell = changes.before(name, parsed.data, origin)
      const value = await handler(parsed.data, origin)
      tell?.(value)
      return { ok: true, value: shownTo(roleOfSight(origin), name, value) }
    } catch (error) {
      if (error instanceof ConsoleError) {
        const { code, message, problems, refused: named = {} } = error
        return { ok: false, error: { code, message, ...(problems === undefined ? {} : { problems }), ...named } }
      }
      if (error instanceof ApiError) {
        const code = codes[error.code] ?? 'failed'
        return refusal(
          code,
          error.message,
          error.field === undefined ? undefined : [{ path: error.field, message: error.message }],
        )
      }
      logger.error({ err: error, procedure: name }, 'a console procedure failed')
      return refusal('internal', 'Something went wrong: the log says what.')
    }
  }
}

function refusal(code: ConsoleErrorCode, message: string, problems?: FieldProblem[]): ConsoleResult<never> {
  return { ok: false, error: problems === undefined ? { code, message } : { code, message, problems } }
}

/** A schema's complaints as field problems. */
function problemsOf(error: z.ZodError): FieldProblem[] {
  return error.issues.slice(0, 50).map((issue) => ({ path: issue.path.map(String).join('.'), message: issue.message }))
}

function sentenceOf(problems: FieldProblem[]): string {
  const first = problems[0]
  if (first === undefined) return 'The input is malformed.'
  return first.path === '' ? `The input is malformed: ${first.message}.` : `${first.path}: ${first.message}.`
}
