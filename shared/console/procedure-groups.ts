import { procedures, type ProcedureName } from './contract.ts'
import type { ProcedureAccess } from './procedure-access.ts'

/** Facts that pages need of procedures without their schemas. */
interface ProcedureFacts extends Pick<ProcedureAccess, 'role' | 'scope'> {
  /** A replica passes the call on to the leader. */
  passedOn: boolean
  /** A call leaves a `site.changed`. */
  recorded: boolean
}

const factsOf = (name: ProcedureName): ProcedureFacts => {
  const { access, passedOn, ...declared } = procedures[name]
  const isOther = (part: string): boolean => 'event' in declared && part in declared.event
  const recorded = 'event' in declared && !['recordedAs', 'unrecorded', 'kind', 'acts'].some(isOther)
  return { role: access.role, scope: access.scope, passedOn, recorded }
}

/**
 * Procedures by their facts. The build of the console runs this module and replaces it by the value, which must be JSON: pages do not load the schemas of all procedures, and a list of names
 * is smaller than a record for each.
 */
export const procedureGroups: readonly (ProcedureFacts & { names: ProcedureName[] })[] = [
  ...Map.groupBy(Object.keys(procedures) as ProcedureName[], (name) => JSON.stringify(factsOf(name))),
].map(([facts, names]) => ({ ...(JSON.parse(facts) as ProcedureFacts), names }))
