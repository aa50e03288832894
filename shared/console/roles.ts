import { signInOperations } from '../sign-in-operations.ts'
import type { Settings } from '../settings.ts'
import type { ProcedureName, ProcedureParsed } from './contract.ts'
import { atLeast, type Role } from './role-names.ts'
import { changesWayIn } from './settings-ways-in.ts'
import { type TokenScope, tokenScopes } from './token-scopes.ts'

/** Access to a procedure, the same on every transport. */
export interface ProcedureAccess {
  /** Minimum role of the account, also of a token's account. */
  readonly role: Role
  /** Required scope of an access token; `any`: every token may call it, `none`: no token. */
  readonly scope: TokenScope | 'any' | 'none'
  /**
   * Requires a person who entered the password within the last ten minutes, because it grants lasting access, or shows a stored secret. Implies
   * that no token may call it. The console key and the desktop's own window count as a person.
   */
  readonly person: boolean
}

const viewer = (scope: TokenScope | 'any'): ProcedureAccess => ({ role: 'viewer', scope, person: false })
const operator = (scope: TokenScope): ProcedureAccess => ({ role: 'operator', scope, person: false })
const admin = (scope: TokenScope): ProcedureAccess => ({ role: 'admin', scope, person: false })
/** A signed-in person: never a token. */
const signedIn = (role: Role): ProcedureAccess => ({ role, scope: 'none', person: false })
/** A person who has just entered the password: never a token. */
const person = (role: Role): ProcedureAccess => ({ role, scope: 'none', person: true })

/** Access to every procedure. A new procedure without an entry here does not compile. */
export const procedureAccess: Readonly<Record<ProcedureName, ProcedureAccess>> = {
  'overview.get': viewer('site:read'),
  'overview.samples': viewer('site:read'),
  'overview.history': viewer('site:read'),
  'overview.dismiss_welcome': admin('site:write'),
  'first_run.get': admin('site:read'),
  'first_run.save': admin('site:write'),
  'first_run.make_room': admin('rooms:write'),
  'first_run.add_camera': admin('devices:write'),
  'first_run.add_test_camera': admin('devices:write'),
  'overview.dismiss_losses': admin('site:write'),
  'overview.dismiss_older_client': admin('site:write'),
  'licence.get': viewer('site:read'),
  'licence.set': admin('site:write'),
  // Pages need defaults, language and limits; its secrets are hidden from everybody.
  'settings.get': viewer('site:read'),
  'settings.check': admin('site:write'),
  // See `needsOfInput`.
  'settings.set': admin('site:write'),
  'listeners.restart': admin('site:write'),
  'tls.info': viewer('site:read'),
  'backups.list': admin('backups:read'),
  'backups.make': admin('backups:write'),
  'backups.keep': admin('backups:write'),
  'backups.delete': admin('backups:write'),
  'backups.read': person('admin'),
  'backups.write': person('admin'),
  'backups.add': person('admin'),
  'backups.preview': admin('backups:read'),
  'backups.restore': person('admin'),
  'console.replace_key': person('admin'),

  // The caller's own account; those that need an account refuse callers without one.
  'account.me': viewer('any'),
  // These check the password themselves.
  'account.confirm_password': signedIn('viewer'),
  'account.change_password': signedIn('viewer'),
  'account.sessions': viewer('accounts:read'),
  'account.end_session': signedIn('viewer'),
  'account.end_other_sessions': signedIn('viewer'),
  'account.tokens': viewer('accounts:read'),
  'account.create_token': person('viewer'),
  'account.revoke_token': signedIn('viewer'),
  'accounts.list': admin('accounts:read'),
  'accounts.create': person('admin'),
  'accounts.update': person('admin'),
  'accounts.reset_password': person('admin'),
  'accounts.delete': person('admin'),
  'accounts.sessions': admin('accounts:read'),
  'accounts.end_session': signedIn('admin'),
  'accounts.end_sessions': signedIn('admin'),
  'accounts.tokens': admin('accounts:read'),
  'accounts.create_token': person('admin'),
  'accounts.revoke_token': signedIn('admin'),

  'credentials.list': viewer('credentials:read'),
  'credentials.create': person('admin'),
  'credentials.update': admin('credentials:write'),
  'credentials.rotate': person('admin'),
  'credentials.reveal': person('admin'),
  'credentials.delete': admin('credentials:write'),
  // Grants access again.
  'credentials.restore': person('admin'),
  'credentials.end_sessions': admin('credentials:write'),
  // Its digest authenticates.
  'credentials.curl': person('admin'),

  'rooms.list': viewer('rooms:read'),
  'rooms.groups': viewer('rooms:read'),
  'rooms.get': viewer('rooms:read'),
  // Operators set new passwords and issue host links.
  'rooms.reveal_password': person('admin'),
  'rooms.create': operator('rooms:write'),
  'rooms.update': operator('rooms:write'),
  'rooms.tags': viewer('rooms:read'),
  'rooms.set_tags': operator('rooms:write'),
  'rooms.change_tags': operator('rooms:write'),
  'rooms.lock': operator('rooms:write'),
  'rooms.unlock': operator('rooms:write'),
  'rooms.close': operator('rooms:write'),
  'rooms.reopen': operator('rooms:write'),
  'rooms.open_now': operator('rooms:write'),
  'rooms.end_now': operator('rooms:write'),
  'rooms.coming': viewer('rooms:read'),
  'rooms.preview_schedule': operator('rooms:write'),
  'rooms.delete': operator('rooms:write'),
  'rooms.restore': operator('rooms:write'),
  'rooms.kick': operator('rooms:write'),

  'templates.list': viewer('rooms:read'),
  'templates.save': operator('rooms:write'),
  'templates.remove': operator('rooms:write'),

  'waiting.list': viewer('rooms:read'),
  'waiting.admit': operator('rooms:write'),
  'waiting.refuse': operator('rooms:write'),
  'waiting.message': operator('rooms:write'),

  'nodes.list': viewer('nodes:read'),
  'nodes.proposal': viewer('nodes:read'),
  'nodes.add': admin('nodes:write'),
  'nodes.add_embedded': admin('nodes:write'),
  'nodes.update': admin('nodes:write'),
  'nodes.enable': admin('nodes:write'),
  'nodes.disable': admin('nodes:write'),
  'nodes.drain': admin('nodes:write'),
  'nodes.undrain': admin('nodes:write'),
  'nodes.remove': admin('nodes:write'),
  'nodes.restore': admin('nodes:write'),
  'nodes.janus_config': person('admin'),
  'nodes.test': admin('nodes:write'),

  'controllers.list': viewer('site:read'),
  'controllers.lead': admin('site:write'),

  'devices.list': viewer('devices:read'),
  'devices.history': viewer('devices:read'),
  'devices.uptime': viewer('devices:read'),
  'devices.quality': viewer('devices:read'),
  'devices.pictures': viewer('media:watch'),
  'devices.picture': viewer('media:watch'),
  'devices.parse_address': operator('devices:write'),
  'devices.probe': operator('devices:write'),
  'devices.discover': operator('devices:write'),
  'devices.discovered_streams': operator('devices:write'),
  'devices.still': operator('devices:write'),
  'devices.change_login': operator('devices:write'),
  'devices.create': operator('devices:write'),
  'devices.update': operator('devices:write'),
  'devices.tags': viewer('devices:read'),
  'devices.set_tags': operator('devices:write'),
  'devices.change_tags': operator('devices:write'),
  'devices.pause': operator('devices:write'),
  'devices.resume': operator('devices:write'),
  'devices.retry': operator('devices:write'),
  'devices.remove': operator('devices:write'),
  'devices.restore': operator('devices:write'),
  'devices.import_preview': operator('devices:write'),
  'devices.import': operator('devices:write'),
  // Addresses of cameras with their logins, which operators also see in the list.
  'devices.export': person('operator'),

  // Viewers see what the setting `recording.viewers` allows.
  'recordings.sources': viewer('recordings:read'),
  'recordings.segments': viewer('recordings:read'),
  'recordings.pieces': viewer('recordings:read'),
  'recordings.kept': viewer('recordings:read'),
  'recordings.states': viewer('recordings:read'),
  'recordings.rule': viewer('recordings:read'),
  'recordings.status': viewer('recordings:read'),
  // A copy that outlives the retention.
  'recordings.test_objects': admin('site:write'),
  'exports.start': operator('recordings:read'),
  'exports.list': operator('recordings:read'),
  'exports.cancel': operator('recordings:read'),
  'recordings.keep': operator('recordings:write'),
  'recordings.unkeep': operator('recordings:write'),
  'recordings.delete': operator('recordings:write'),
  'recordings.start': operator('recordings:write'),
  'recordings.stop': operator('recordings:write'),
  'recordings.set_rule': operator('recordings:write'),
  // Their addresses are keys to recordings and live pictures.
  'orders.recordings': operator('recordings:read'),
  'orders.lives': operator('recordings:read'),
  'orders.record': operator('recordings:write'),
  'orders.stop_recording': operator('recordings:write'),
  'orders.delete_recording': operator('recordings:write'),
  'orders.stream': operator('recordings:write'),
  'orders.stop_live': operator('recordings:write'),
  'orders.delete_live': operator('recordings:write'),
  'orders.live_link': operator('recordings:write'),

  'relays.list': viewer('nodes:read'),

  'readiness.checks': operator('site:read'),
  // Writes a small file, and runs programs of the system.
  'readiness.run': operator('site:read'),
  'readiness.phone': operator('site:read'),
  'diagnostics.contents': signedIn('admin'),
  // The log and the settings of the whole site: never for a token.
  'diagnostics.make': signedIn('admin'),
  'diagnostics.read': signedIn('admin'),

  'media.stats': viewer('media:watch'),
  'media.transcoding': viewer('nodes:read'),
  // These issue a token; media.watch does not.
  'media.preview_stream': operator('media:watch'),
  'media.preview_device': operator('media:watch'),
  'media.key_picture': viewer('media:watch'),
  'media.watch': viewer('media:watch'),
  'media.answer': viewer('media:watch'),
  'media.show': viewer('media:watch'),
  'media.unwatch': viewer('media:watch'),
  'media.announce_restart': admin('site:write'),
  'media.withdraw_restart': admin('site:write'),
  // For anybody, as a member; see `needsOfInput`.
  'media.join_link': viewer('links:write'),
  'media.join_now': operator('links:write'),
  'media.participant_token': operator('links:write'),
  'media.revoke_links': operator('links:write'),

  'wall.list': viewer('wall:read'),
  'wall.save': operator('wall:write'),
  'wall.bring': operator('wall:write'),
  'wall.remove': operator('wall:write'),
  'wall.restore': operator('wall:write'),

  'trash.list': operator('site:read'),
  'trash.purge': admin('site:write'),
  'trash.empty': admin('site:write'),

  // Finds only kinds that the caller may list.
  'search.find': viewer('any'),

  'activity.list': viewer('events:read'),
  'activity.clear': admin('site:write'),
  'activity.export': viewer('events:read'),
  'events.list': viewer('events:read'),
  'events.marks': viewer('events:read'),
  'events.verify': operator('events:read'),

  'tester.operations': viewer('site:read'),
  // Sends as any credential with its secret, and shows session tokens that outlive an access token.
  'tester.send': signedIn('admin'),

  'lab.state': viewer('site:read'),
  'lab.faults': viewer('site:read'),
  'lab.join': operator('lab:write'),
  'lab.leave': operator('lab:write'),
  'lab.node_trouble': operator('lab:write'),
  'lab.device_trouble': operator('lab:write'),
  'lab.lose_device': operator('lab:write'),
  // These affect real clients.
  'lab.set_faults': admin('lab:write'),
  'lab.stall_store': admin('lab:write'),
}

/** Additional needs of some procedures, by input. */
const signInNames: ReadonlySet<string> = new Set(Object.values(signInOperations))

type InputNeeds = Partial<Pick<ProcedureAccess, 'role' | 'person'>>

const needsOfInput: {
  readonly [N in ProcedureName]?: (input: ProcedureParsed<N>, settings: Settings) => InputNeeds
} = {
  // A link that names a user takes that user's place.
  'media.join_link': ({ role, user_id }) => (role === 'host' || user_id !== undefined ? { role: 'operator' } : {}),
  'settings.set': (patch, settings) => ({ person: changesWayIn(patch, settings) }),
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
 * @param settings settings of the site before the call
 */
export function accessOfCall(name: ProcedureName, input: unknown, settings: Settings): ProcedureAccess {
  // The table is typed by name; a name known only at run time needs an untyped lookup.
  const further = needsOfInput[name] as ((input: unknown, settings: Settings) => InputNeeds) | undefined
  const needs = { ...procedureAccess[name], ...further?.(input, settings) }
  return needs.person ? { ...needs, scope: 'none' } : needs
}

/** Minimum role of each scope: that of its weakest procedure. */
const scopeRoles: ReadonlyMap<TokenScope, Role> = new Map(
  tokenScopes.map((scope) => {
    const roles = Object.values(procedureAccess)
      .filter((access) => access.scope === scope)
      .map(({ role }) => role)
    return [scope, roles.reduce((least, role) => (atLeast(role, least) ? least : role), 'admin')]
  }),
)

/** Scopes within an account's role; a token stored with only a role has these. */
export function scopesOfRole(role: Role): TokenScope[] {
  return tokenScopes.filter((scope) => atLeast(role, scopeRoles.get(scope) ?? 'admin'))
}
