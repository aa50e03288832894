import { type NodeConfig, nodeTargets } from '../node.ts'
import type { Settings } from '../settings.ts'
import type { ProcedureName, ProcedureParsed } from './contract.ts'
import type { ProcedureAccess } from './procedure-rule.ts'
import { type OpenLastingProcedure, procedureRules } from './procedure-rules.ts'
import { atLeast, type Role } from './role-names.ts'
import { needsPerson } from '../settings.ts'
import { type TokenScope, tokenScopes } from './token-scopes.ts'

/** State of the site before a call, by which the call is judged. */
export interface SiteBefore {
  settings: Settings
  /** A configured node; undefined: there is none of this name. */
  node: (name: string) => NodeConfig | undefined
  /** Default lifetime of a room's join links, in milliseconds: at least until its last meeting ends. */
  linkLifeMs: (roomId: string) => number
}

/** Access required by one call. */
interface CallAccess extends ProcedureAccess {
  /** A session needs a password given just now, because what the call makes outlives it for long. A token does not: what it makes ends with it. */
  readonly freshSession: boolean
}

type InputNeeds = Partial<Pick<ProcedureAccess, 'role' | 'person'>>

/** People, media, links and secrets go to the addresses of a node. */
const needsOfNode = (given: NodeConfig, { node }: SiteBefore): InputNeeds => ({
  person: nodeTargets(given) !== nodeTargets(node(given.name)),
})
/** With a version, what is left out stays. */
const needsOfNodeChanges = (given: ProcedureParsed<'nodes.update'>, { node }: SiteBefore): InputNeeds => {
  const before = node(given.name)
  const {
    addresses = [],
    ws_url = '',
    admin_url = '',
  } = {
    ...(given.expected_version === undefined ? {} : before),
    ...given,
  }
  return { person: nodeTargets({ addresses, ws_url, admin_url }) !== nodeTargets(before) }
}
const needsOfSettings = (
  { version: _, expected_version: _e, ...patch }: ProcedureParsed<'settings.set'>,
  { settings }: SiteBefore,
): InputNeeds => ({ person: needsPerson(patch, settings) })

/** Additional needs of some procedures, by input. */
const needsOfInput: {
  readonly [N in ProcedureName]?: (input: ProcedureParsed<N>, before: SiteBefore) => InputNeeds
} = {
  'nodes.add': needsOfNode,
  'nodes.update': needsOfNodeChanges,
  'nodes.test': needsOfNode,
  // A link that names a user takes that user's place.
  'media.join_link': ({ role, user_id }) => (role === 'host' || user_id !== undefined ? { role: 'operator' } : {}),
  // A check reads the files that settings name.
  'settings.check': needsOfSettings,
  'settings.set': needsOfSettings,
  // A disabled credential grants access again.
  'credentials.update': ({ enabled }) => ({ person: enabled === true }),
  // The answer shows a token of the credential's session, its digest or its secret; what the operation makes belongs to the credential.
  'tester.send': ({ access_key }) => ({ person: access_key !== '' }),
  // A Janus server admits its holder without the controller: it does not end with the access token that made it.
  'media.participant_token': ({ life_ms }, { settings }) => ({
    person: (life_ms ?? 0) > settings.media.link_life_ms,
  }),
}

const unlimited = Number.POSITIVE_INFINITY

/** Lifetime of what a lasting procedure makes, in milliseconds. A procedure that sessions may call without the password does not compile without an entry. */
const lifetimes: {
  readonly [N in OpenLastingProcedure]: (input: ProcedureParsed<N>, before: SiteBefore) => number
} = {
  // Only its account, signed in, downloads the file, within a day.
  'exports.start': () => 0,
  // `needsOfNode` decides.
  'nodes.add': () => 0,
  'nodes.update': () => 0,
  'media.join_link': ({ room_id, life_ms }, { linkLifeMs }) =>
    life_ms === 0 ? unlimited : (life_ms ?? linkLifeMs(room_id)),
  // An hour, as its handler says.
  'media.join_now': () => 0,
  'media.participant_token': ({ life_ms }, { settings }) => life_ms ?? settings.media.link_life_ms,
  'orders.live_link': ({ ttl }) => ttl * 1_000,
  // Addresses of files end with the recording, and streams when they are stopped.
  'orders.record': () => unlimited,
  'orders.renew_recording': () => unlimited,
  'orders.stream': () => unlimited,
}

/**
 * Access required by one call, by its input.
 * @param input output of the procedure's schema
 */
export function accessOfCall(name: ProcedureName, input: unknown, before: SiteBefore): CallAccess {
  // The table is typed by name; a name known only at run time needs an untyped lookup.
  const further = needsOfInput[name] as ((input: unknown, before: SiteBefore) => InputNeeds) | undefined
  const needs: ProcedureAccess = { ...procedureRules[name], ...further?.(input, before) }
  const lifetime = isOpenLasting(name)
    ? (lifetimes[name] as (input: unknown, before: SiteBefore) => number)(input, before)
    : 0
  // The setting is the longest life that a person with a password has allowed.
  const freshSession = needs.person || lifetime > before.settings.media.link_life_ms
  return { ...needs, scope: needs.person ? 'none' : needs.scope, freshSession }
}

function isOpenLasting(name: ProcedureName): name is OpenLastingProcedure {
  return name in lifetimes
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
