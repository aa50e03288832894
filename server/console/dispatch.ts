import type { Logger } from 'pino'
import { isProcedureName, procedures } from '../../shared/console/contract.ts'
import { problemsOf, refusalOfInput } from '../../shared/domain/input-problems.ts'
import type { ConsoleResult } from '../../shared/domain/outcome.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import type { Gated } from '../gate/gate.ts'
import type { ChangeRecorder } from './change-recorder.ts'
import { refused, resultOfError } from './console-answer.ts'
import { type CallOrigin, type ProcedureHandlers, implementationOf } from './handlers.ts'
import { type CallFacts, refuseCall, refuseCaller, roleOfSight, shownTo } from './caller-permissions.ts'
import type { MergedEdits } from './merged-edits.ts'

/** Calls a procedure by name with an unvalidated input; never rejects. */
export type Dispatch = (name: string, input: unknown, origin: CallOrigin) => Promise<ConsoleResult<unknown>>

/** Dispatch that a transport may call; see `Gated`. */
export type GatedDispatch = Gated<Dispatch>

/**
 * Handles every call of a procedure: checks the caller, validates the input, merges edits, records changes in the event
 * log, and converts errors to results. Unexpected errors are logged in full and answered generically.
 */
export function createDispatch(
  handlers: ProcedureHandlers,
  logger: Logger,
  { changes, edits }: { changes: Pick<ChangeRecorder, 'run'>; edits: Pick<MergedEdits, 'run'> },
  facts: CallFacts,
): Dispatch {
  return async (name, input, origin) => {
    if (!isProcedureName(name))
      return refused(refusal('procedureNotFound', { procedure: JSON.stringify(name.slice(0, 80)) }))
    const forbidden = refuseCaller(name, origin)
    if (forbidden !== undefined) return refused(forbidden)
    const parsed = procedures[name].input.safeParse(input ?? {})
    if (!parsed.success) {
      const problems = problemsOf(parsed.error, input)
      return refused(refusalOfInput(problems), problems)
    }
    const forbiddenNow = refuseCall(name, parsed.data, origin, facts)
    if (forbiddenNow !== undefined) return refused(forbiddenNow)
    try {
      const implementation = implementationOf(handlers, name)
      if (implementation === undefined) return refused(refusal('procedureElsewhere', { procedure: name }))
      const call = { name, input: parsed.data, origin, implementation }
      const value = await changes.run(call, () =>
        edits.run(name, parsed.data, (merged) => implementation.run(merged, origin)),
      )
      return { ok: true, value: shownTo(roleOfSight(origin), name, value) }
    } catch (error) {
      const known = resultOfError(error)
      if (known !== undefined) return known
      logger.error({ err: error, procedure: name }, 'a console procedure failed')
      return refused(refusal('unexpected'))
    }
  }
}
