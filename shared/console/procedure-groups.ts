import { procedures, type ProcedureName } from './contract.ts'
import type { ProcedureAccess } from './procedure-access.ts'

/** Facts about procedures that pages need without the schemas. */
interface ProcedureFacts extends Pick<ProcedureAccess, 'role' | 'scope'> {
  /** Whether a replica forwards the call to the leader. */
  passedOn: boolean
  /** Whether a call writes a `site.changed` event. */
  recorded: boolean
}

const factsOf = (name: ProcedureName): ProcedureFacts => {
  const { access, passedOn, ...declared } = procedures[name]
  const isOther = (part: string): boolean => 'event' in declared && part in declared.event
  const recorded = 'event' in declared && !['recordedAs', 'unrecorded', 'kind', 'acts'].some(isOther)
  return { role: access.role, scope: access.scope, passedOn, recorded }
}

/**
 * Procedures grouped by their facts. The build of the console runs this module and replaces it by the value, which must
 * be JSON. Thus pages do not load the schemas of all procedures, and a list of names is smaller than a record for each.
 */
export const procedureGroups: readonly (ProcedureFacts & { names: ProcedureName[] })[] = [
  ...Map.groupBy(Object.keys(procedures) as ProcedureName[], (name) => JSON.stringify(factsOf(name))),
].map(([facts, names]) => ({ ...(JSON.parse(facts) as ProcedureFacts), names }))
