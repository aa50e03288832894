import { procedures, type ProcedureName } from './contract.ts'
import type { EventName } from './event-names.ts'
import type { ProcedureAccess } from './procedure-access.ts'

/** Facts about procedures that pages need without the schemas. */
interface ProcedureFacts extends Pick<ProcedureAccess, 'role' | 'scope'> {
  /** Whether a replica forwards the call to the leader. */
  passedOn: boolean
  /** Whether a call writes a `site.changed` event. */
  recorded: boolean
  /** Events after which the output may differ; absent: none. */
  refreshOn?: readonly EventName[]
}

const factsOf = (name: ProcedureName): ProcedureFacts => {
  const { access, passedOn, ...declared } = procedures[name]
  const isOther = (part: string): boolean => 'event' in declared && part in declared.event
  const recorded = 'event' in declared && !['recordedAs', 'unrecorded', 'kind', 'acts'].some(isOther)
  const { refreshOn } = { refreshOn: undefined, ...declared }
  return { role: access.role, scope: access.scope, passedOn, recorded, ...(refreshOn && { refreshOn }) }
}

/**
 * Procedures grouped by their facts. The build of the console runs this module and replaces it by its value, which must
 * be JSON. Pages therefore do not load the schemas of all procedures, and the groups are smaller than one record for
 * each procedure.
 */
export const procedureGroups: readonly (ProcedureFacts & { names: ProcedureName[] })[] = [
  ...Map.groupBy(Object.keys(procedures) as ProcedureName[], (name) => JSON.stringify(factsOf(name))),
].map(([facts, names]) => ({ ...(JSON.parse(facts) as ProcedureFacts), names }))
