import { hasCode } from '../../shared/error-code.ts'
import type { UpdateProblemName } from '../../shared/app-contract.ts'

/** An update was not found, fetched, proven or installed: the console words the reason by its name. */
export class UpdateProblem extends Error {
  override readonly name = 'UpdateProblem'
  readonly problem: UpdateProblemName
  /** File, address or answer that the sentence names. */
  readonly detail: string

  constructor(problem: UpdateProblemName, detail = '', cause?: unknown) {
    super(detail === '' ? problem : `${problem}: ${detail}`, { cause })
    this.problem = problem
    this.detail = detail
  }
}

/** Makes a problem of any error. @param otherwise for an error that is none yet */
export function problemOf(error: unknown, otherwise: UpdateProblemName): UpdateProblem {
  if (error instanceof UpdateProblem) return error
  if (hasCode(error, 'ENOSPC')) return new UpdateProblem('diskFull', '', error)
  return new UpdateProblem(otherwise, error instanceof Error ? error.message : String(error), error)
}
