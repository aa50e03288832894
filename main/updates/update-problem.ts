import { hasCode } from '../../shared/error-code.ts'
import type { UpdateProblemName } from '../../shared/app-contract.ts'

/** An update was not found, downloaded, verified or installed. The console shows a text for each problem name. */
export class UpdateProblem extends Error {
  override readonly name = 'UpdateProblem'
  readonly problem: UpdateProblemName
  /** File, address or response, inserted in the console's text; empty: none. */
  readonly detail: string

  constructor(problem: UpdateProblemName, detail = '', cause?: unknown) {
    super(detail === '' ? problem : `${problem}: ${detail}`, { cause })
    this.problem = problem
    this.detail = detail
  }
}

/** Converts any error to an UpdateProblem. @param otherwise problem name for other errors */
export function problemOf(error: unknown, otherwise: UpdateProblemName): UpdateProblem {
  if (error instanceof UpdateProblem) return error
  if (hasCode(error, 'ENOSPC')) return new UpdateProblem('diskFull', '', error)
  return new UpdateProblem(otherwise, error instanceof Error ? error.message : String(error), error)
}
