import type { Licence } from '../licence.ts'
import type { SettingsPatch } from '../settings.ts'
import type { EditProcedure, ProcedureInput, ProcedureName } from './contract.ts'
import {
  act,
  admin,
  change,
  forTokens,
  lasting,
  operator,
  passedOn,
  person,
  type ProcedureRule,
  read,
  signedIn,
  viewer,
} from './procedure-rule.ts'
import type { RecordField } from './record-fields.ts'

/** Access to every procedure, and its effect. A new procedure without an entry here does not compile. */
export const procedureRules = {
  'overview.get': read(viewer('site:read')),
  'overview.samples': read(viewer('site:read')),
  'overview.history': read(viewer('site:read')),
  'overview.dismiss_welcome': change(admin('site:write')),
  'first_run.get': read(admin('site:read')),
  'first_run.save': change(admin('site:write')),
  'first_run.make_room': change(admin('rooms:write')),
  'first_run.add_camera': change(admin('devices:write')),
  'first_run.add_test_camera': change(admin('devices:write')),
  'overview.dismiss_losses': change(admin('site:write')),
  'overview.dismiss_older_client': change(admin('site:write')),
  'licence.get': read(viewer('site:read')),
  'licence.set': change(person('admin')),
  // Pages need defaults, language and limits; its secrets are hidden from everybody.
  'settings.get': read(viewer('site:read')),
  'settings.check': read(admin('site:write')),
  // See `needsOfInput`.
  'settings.set': change(admin('site:write')),
  // Clients lose their connections.
  'listeners.restart': change(signedIn('admin')),
  'tls.info': read(viewer('site:read')),
  'backups.list': read(admin('backups:read')),
  'backups.make': change(admin('backups:write')),
  'backups.keep': change(admin('backups:write')),
  'backups.delete': change(person('admin')),
  'backups.read': act(person('admin')),
  'backups.write': change(person('admin')),
  'backups.add': change(person('admin')),
  'backups.preview': read(admin('backups:read')),
  'backups.restore': lasting(person('admin')),
  'console.replace_key': lasting(person('admin')),

  // The caller's own account; those that need an account refuse callers without one.
  'account.me': read(viewer('any')),
  // These check the password themselves.
  'account.confirm_password': act(signedIn('viewer')),
  'account.change_password': change(signedIn('viewer')),
  'account.sessions': read(viewer('accounts:read')),
  'account.end_session': change(signedIn('viewer')),
  'account.end_other_sessions': change(signedIn('viewer')),
  'account.tokens': read(viewer('accounts:read')),
  'account.create_token': lasting(person('viewer')),
  'account.revoke_token': change(signedIn('viewer')),
  'accounts.list': read(admin('accounts:read')),
  'accounts.create': lasting(person('admin')),
  'accounts.update': lasting(person('admin')),
  'accounts.reset_password': lasting(person('admin')),
  'accounts.delete': change(person('admin')),
  'accounts.sessions': read(admin('accounts:read')),
  'accounts.end_session': change(signedIn('admin')),
  'accounts.end_sessions': change(signedIn('admin')),
  'accounts.tokens': read(admin('accounts:read')),
  'accounts.create_token': lasting(person('admin')),
  'accounts.revoke_token': change(signedIn('admin')),

  'credentials.list': read(viewer('credentials:read')),
  'credentials.create': lasting(person('admin')),
  'credentials.update': change(admin('credentials:write')),
  'credentials.rotate': lasting(person('admin')),
  'credentials.reveal': act(person('admin')),
  'credentials.delete': change(admin('credentials:write')),
  // Grants access again.
  'credentials.restore': lasting(person('admin')),
  'credentials.end_sessions': change(admin('credentials:write')),
  // Its digest authenticates.
  'credentials.curl': act(person('admin')),

  'rooms.list': read(viewer('rooms:read')),
  'rooms.groups': read(viewer('rooms:read')),
  'rooms.get': read(viewer('rooms:read')),
  // Operators set new passwords and issue host links.
  'rooms.reveal_password': act(person('admin')),
  'rooms.create': change(operator('rooms:write')),
  'rooms.update': change(operator('rooms:write')),
  'rooms.tags': read(viewer('rooms:read')),
  'rooms.set_tags': change(operator('rooms:write')),
  'rooms.change_tags': change(operator('rooms:write')),
  'rooms.lock': change(operator('rooms:write')),
  'rooms.unlock': change(operator('rooms:write')),
  'rooms.close': change(operator('rooms:write')),
  'rooms.reopen': change(operator('rooms:write')),
  'rooms.open_now': change(operator('rooms:write')),
  'rooms.end_now': change(operator('rooms:write')),
  'rooms.coming': read(viewer('rooms:read')),
  'rooms.preview_schedule': read(operator('rooms:write')),
  'rooms.delete': change(operator('rooms:write')),
  'rooms.restore': change(operator('rooms:write')),
  'rooms.kick': change(operator('rooms:write')),
  'rooms.mute': act(operator('rooms:write')),
  'rooms.stop_camera': act(operator('rooms:write')),

  'templates.list': read(viewer('rooms:read')),
  'templates.save': change(operator('rooms:write')),
  'templates.remove': change(operator('rooms:write')),

  'waiting.list': read(viewer('rooms:read')),
  'waiting.admit': act(operator('rooms:write')),
  'waiting.refuse': act(operator('rooms:write')),
  'waiting.message': act(operator('rooms:write')),

  'nodes.list': read(viewer('nodes:read')),
  'nodes.proposal': read(viewer('nodes:read')),
  'nodes.add': lasting(admin('nodes:write'), forTokens),
  'nodes.add_embedded': change(admin('nodes:write')),
  'nodes.update': lasting(admin('nodes:write'), forTokens),
  'nodes.enable': change(admin('nodes:write')),
  'nodes.disable': change(admin('nodes:write')),
  'nodes.drain': change(admin('nodes:write')),
  'nodes.undrain': change(admin('nodes:write')),
  'nodes.remove': change(admin('nodes:write')),
  'nodes.restore': lasting(person('admin')),
  'nodes.janus_config': act(person('admin')),
  'nodes.test': act(admin('nodes:write')),

  'controllers.list': read(viewer('site:read')),
  'controllers.lead': passedOn(change(admin('site:write'))),

  'devices.list': read(viewer('devices:read')),
  'devices.history': read(viewer('devices:read')),
  'devices.uptime': read(viewer('devices:read')),
  'devices.quality': read(viewer('devices:read')),
  'devices.pictures': read(viewer('media:watch')),
  'devices.picture': read(viewer('media:watch')),
  'devices.parse_address': read(operator('devices:write')),
  'devices.probe': read(operator('devices:write')),
  'devices.discover': read(operator('devices:write')),
  'devices.discovered_streams': read(operator('devices:write')),
  'devices.still': read(operator('devices:write')),
  'devices.change_login': change(operator('devices:write')),
  'devices.create': change(operator('devices:write')),
  'devices.update': change(operator('devices:write')),
  'devices.tags': read(viewer('devices:read')),
  'devices.set_tags': change(operator('devices:write')),
  'devices.change_tags': change(operator('devices:write')),
  'devices.pause': change(operator('devices:write')),
  'devices.resume': change(operator('devices:write')),
  'devices.retry': change(operator('devices:write')),
  'devices.remove': change(operator('devices:write')),
  'devices.restore': change(operator('devices:write')),
  'devices.import_preview': read(operator('devices:write')),
  'devices.import': change(operator('devices:write')),
  // Addresses of cameras with their logins, which operators also see in the list.
  'devices.export': act(person('operator')),

  // Viewers see what the setting `recording.viewers` allows.
  'recordings.sources': read(viewer('recordings:read')),
  'recordings.segments': read(viewer('recordings:read')),
  'recordings.pieces': read(viewer('recordings:read')),
  'recordings.kept': read(viewer('recordings:read')),
  'recordings.states': read(viewer('recordings:read')),
  'recordings.rule': read(viewer('recordings:read')),
  'recordings.status': read(viewer('recordings:read')),
  // A copy that outlives the retention.
  'recordings.test_objects': act(person('admin')),
  'exports.start': passedOn(lasting(operator('recordings:read'), forTokens)),
  'exports.list': read(operator('recordings:read')),
  'exports.cancel': act(operator('recordings:read')),
  'recordings.keep': change(operator('recordings:write')),
  'recordings.unkeep': change(operator('recordings:write')),
  'recordings.delete': change(operator('recordings:write')),
  'recordings.start': change(operator('recordings:write')),
  'recordings.stop': change(operator('recordings:write')),
  'recordings.set_rule': change(operator('recordings:write')),
  // Their addresses are keys to recordings and live pictures.
  'orders.recordings': read(operator('recordings:read')),
  'orders.lives': read(operator('recordings:read')),
  'orders.record': lasting(operator('recordings:write'), forTokens),
  'orders.stop_recording': change(operator('recordings:write')),
  'orders.renew_recording': lasting(operator('recordings:write'), forTokens),
  'orders.delete_recording': change(operator('recordings:write')),
  'orders.stream': lasting(operator('recordings:write'), forTokens),
  'orders.stop_live': change(operator('recordings:write')),
  'orders.delete_live': change(operator('recordings:write')),
  'orders.live_link': lasting(operator('recordings:write'), forTokens),

  // Everything that is open to holders of an address, of every maker.
  'capabilities.list': read(operator('links:write')),
  'capabilities.revoke': change(operator('links:write')),
  'capabilities.revoke_all': change(operator('links:write')),

  'relays.list': read(viewer('nodes:read')),

  'readiness.checks': read(operator('site:read')),
  // Writes a small file, and runs programs of the system.
  'readiness.run': read(operator('site:read')),
  'readiness.phone': read(operator('site:read')),
  'diagnostics.contents': read(signedIn('admin')),
  // The log and the settings of the whole site: never for a token.
  'diagnostics.make': act(signedIn('admin')),
  'diagnostics.read': read(signedIn('admin')),

  'media.stats': read(viewer('media:watch')),
  'media.transcoding': read(viewer('nodes:read')),
  // These issue a token; media.watch does not.
  'media.preview_stream': act(operator('media:watch')),
  'media.preview_device': act(operator('media:watch')),
  'media.key_picture': read(viewer('media:watch')),
  'media.watch': act(viewer('media:watch')),
  'media.answer': read(viewer('media:watch')),
  'media.show': read(viewer('media:watch')),
  'media.unwatch': read(viewer('media:watch')),
  'media.announce_restart': change(admin('site:write')),
  'media.withdraw_restart': change(admin('site:write')),
  // For anybody, as a member; see `needsOfInput`.
  'media.join_link': passedOn(lasting(viewer('links:write'), forTokens)),
  'media.join_now': passedOn(lasting(operator('links:write'), forTokens)),
  'media.participant_token': lasting(operator('links:write'), forTokens),
  'media.revoke_links': change(operator('links:write')),

  'wall.list': read(viewer('wall:read')),
  'wall.save': change(operator('wall:write')),
  'wall.bring': change(operator('wall:write')),
  'wall.remove': change(operator('wall:write')),
  'wall.restore': change(operator('wall:write')),

  'trash.list': read(operator('site:read')),
  // These and 'backups.delete' delete for good.
  'trash.purge': change(person('admin')),
  'trash.empty': change(person('admin')),

  // Finds only kinds that the caller may list.
  'search.find': read(viewer('any')),

  'activity.list': read(viewer('events:read')),
  'activity.clear': change(person('admin')),
  'activity.export': read(viewer('events:read')),
  'events.list': read(viewer('events:read')),
  'events.marks': read(viewer('events:read')),
  'events.verify': read(operator('events:read')),

  'tester.operations': read(viewer('site:read')),
  // Without a credential it sends what anybody can send; see `needsOfInput`.
  'tester.send': change(signedIn('admin')),

  'lab.state': read(viewer('site:read')),
  'lab.faults': read(viewer('site:read')),
  'lab.join': change(operator('lab:write')),
  'lab.leave': change(operator('lab:write')),
  'lab.node_trouble': change(operator('lab:write')),
  'lab.device_trouble': change(operator('lab:write')),
  'lab.lose_device': change(operator('lab:write')),
  // These affect real clients.
  'lab.set_faults': change(admin('lab:write')),
  'lab.stall_store': change(admin('lab:write')),
} satisfies Readonly<Record<ProcedureName, ProcedureRule>>

/** Lasting procedures that a session may call without a password given just now: what they make must not outlive it for long. */
export type OpenLastingProcedure = {
  [N in ProcedureName]: (typeof procedureRules)[N] extends ProcedureRule<'lasting'> & { readonly person: false }
    ? N
    : never
}[ProcedureName]

/** Fields by which an input names an existing record, and the fields of such a record. */
interface RecordInputs {
  rooms: { key: 'room_id'; fields: RecordField<'room'> }
  devices: { key: 'userId'; fields: RecordField<'device'> }
  nodes: { key: 'name'; fields: RecordField<'node'> }
  credentials: { key: 'access_key'; fields: RecordField<'credential'> }
  accounts: { key: 'id'; fields: RecordField<'account'> }
  templates: { key: 'id'; fields: RecordField<'template'> }
  wall: { key: 'id'; fields: RecordField<'wall'> }
  licence: { key: keyof Licence; fields: keyof Licence }
  settings: { key: keyof SettingsPatch; fields: keyof SettingsPatch }
  recordings: { key: 'room_id'; fields: 'rule' }
}
type InputFields<I> = I extends unknown ? keyof I : never
/** Procedures that change the site and whose input names a record and one of its fields. */
type LooksLikeEdit = {
  [N in ProcedureOf<'change' | 'lasting'>]: N extends `${infer P extends keyof RecordInputs}.${string}`
    ? Extract<InputFields<ProcedureInput<N>>, RecordInputs[P]['key']> extends never
      ? never
      : Extract<InputFields<ProcedureInput<N>>, RecordInputs[P]['fields']> extends never
        ? never
        : N
    : never
}[ProcedureOf<'change' | 'lasting'>]

/** Procedures that look like edits and are none, with the reason. Another one that is not declared by `edit` does not compile here. */
export const notEdits: Readonly<Record<Exclude<LooksLikeEdit, EditProcedure>, string>> = {
  'accounts.create_token': 'its role is that of the token',
  'credentials.create': 'makes a credential',
  'devices.create': 'makes a device',
  'nodes.add': 'makes a node',
}

/** Procedures of one of these effects. */
export type ProcedureOf<E extends ProcedureRule['effect']> = {
  [N in ProcedureName]: (typeof procedureRules)[N] extends ProcedureRule<E> ? N : never
}[ProcedureName]
