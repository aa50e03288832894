import { type NodeConfig, nodeTargets } from '../node.ts'
import { signInOperations } from '../sign-in-operations.ts'
import type { Settings } from '../settings.ts'
import type { ProcedureName, ProcedureParsed } from './contract.ts'
import type { ProcedureAccess } from './procedure-rule.ts'
import { procedureRules } from './procedure-rules.ts'
import { atLeast, type Role } from './role-names.ts'
import { needsPerson } from './settings-access.ts'
import { type TokenScope, tokenScopes } from './token-scopes.ts'

/** State of the site before a call, by which the call is judged. */
export interface SiteBefore {
  settings: Settings
  /** A configured node; undefined: there is none of this name. */
  node: (name: string) => NodeConfig | undefined
}

const signInNames: ReadonlySet<string> = new Set(Object.values(signInOperations))

type InputNeeds = Partial<Pick<ProcedureAccess, 'role' | 'person'>>

/** People, media, links and secrets go to the addresses of a node. */
const needsOfNode = (given: NodeConfig, { node }: SiteBefore): InputNeeds => ({
  person: nodeTargets(given) !== nodeTargets(node(given.name)),
})
const needsOfSettings = (patch: ProcedureParsed<'settings.set'>, { settings }: SiteBefore): InputNeeds => ({
  person: needsPerson(patch, settings),
})

/** Additional needs of some procedures, by input. */
const needsOfInput: {
  readonly [N in ProcedureName]?: (input: ProcedureParsed<N>, before: SiteBefore) => InputNeeds
} = {
  'nodes.add': needsOfNode,
  'nodes.update': needsOfNode,
  'nodes.test': needsOfNode,
  // A link that names a user takes that user's place.
  'media.join_link': ({ role, user_id }) => (role === 'host' || user_id !== undefined ? { role: 'operator' } : {}),
  // A check reads the files that settings name.
  'settings.check': needsOfSettings,
  'settings.set': needsOfSettings,
  // A disabled credential grants access again.
  'credentials.update': ({ enabled }) => ({ person: enabled === true }),
  // The answer shows the digest or the secret itself.
  'tester.send': ({ operation, access_key }) => ({
    person: access_key !== '' && signInNames.has(operation),
  }),
}

/**
 * Access required by one call, by its input.
 * @param input output of the procedure's schema
 */
export function accessOfCall(name: ProcedureName, input: unknown, before: SiteBefore): ProcedureAccess {
  // The table is typed by name; a name known only at run time needs an untyped lookup.
  const further = needsOfInput[name] as ((input: unknown, before: SiteBefore) => InputNeeds) | undefined
  const needs: ProcedureAccess = { ...procedureRules[name], ...further?.(input, before) }
  return needs.person ? { ...needs, scope: 'none' } : needs
}

/** Minimum role of each scope: that of its weakest procedure. */
const scopeRoles: ReadonlyMap<TokenScope, Role> = new Map(
  tokenScopes.map((scope) => {
    const roles = Object.values(procedureRules)
      .filter((access) => access.scope === scope)
      .map(({ role }) => role)
    return [scope, roles.reduce((least, role) => (atLeast(role, least) ? least : role), 'admin')]
  }),
)

/** Scopes within an account's role; a token stored with only a role has these. */
export function scopesOfRole(role: Role): TokenScope[] {
  return tokenScopes.filter((scope) => atLeast(role, scopeRoles.get(scope) ?? 'admin'))
}
