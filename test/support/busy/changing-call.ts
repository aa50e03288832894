import { hasCode } from '../../../shared/error-code.ts'
import type { ProcedureInput, ProcedureName, ProcedureOutput } from '../../../shared/console/contract.ts'
import type { ControllersSite } from '../sites/controllers-site.ts'

/**
 * Calls a changing console procedure, as an operator who does not know the leader: replicas refuse it and change nothing.
 * @returns its value; undefined: no leader was asked, so nothing was changed
 * @throws Error if it may have been applied or not
 */
export async function changingCall<N extends ProcedureName>(
  { controllers }: ControllersSite,
  name: N,
  input: ProcedureInput<N>,
): Promise<ProcedureOutput<N> | undefined> {
  for (const { headless } of controllers) {
    try {
      const result = await headless.result(name, input)
      if (result.ok) return result.value
      if (result.error.code !== 'standby') throw new Error(`${name}: ${result.error.message}`)
    } catch (error) {
      if (!hasCode(error, 'ECONNREFUSED')) throw error
    }
  }
  return undefined
}
