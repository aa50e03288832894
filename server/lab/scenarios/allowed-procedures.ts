import { isProcedureName, type ProcedureName, procedures } from '../../../shared/console/contract.ts'

/**
 * Groups of procedures that a scenario may call. The groups of accounts, access tokens, backups, certificates, the trash
 * and other controllers are missing: a file from somebody else must not change who has access to a site, copy it, or
 * remove something for ever.
 */
const groups: readonly string[] = [
  'activity',
  'devices',
  'events',
  'lab',
  'licence',
  'nodes',
  'orders',
  'overview',
  'recordings',
  'relays',
  'rooms',
  'settings',
  'wall',
]

/** Procedures of other groups. */
const others: readonly ProcedureName[] = ['credentials.list', 'credentials.update', 'credentials.end_sessions']

/** Returns why a scenario may not call a procedure; undefined: it may. */
export function forbiddenIn(name: string): string | undefined {
  if (!isProcedureName(name)) return `there is no procedure ${name}`
  const { effect } = procedures[name]
  if (effect === 'lasting') return `${name} creates access that outlives the scenario`
  if (effect === 'act') return `${name} reveals a secret or connects to other hosts`
  const [group = ''] = name.split('.')
  const isOfScenarios = /^lab\.\w*scenario/.test(name)
  if (!isOfScenarios && (groups.includes(group) || others.includes(name))) return undefined
  return `a scenario may not call ${name}`
}
