import type { ProcedureName, ProcedureParsed } from './contract.ts'
import type { Role } from './role-names.ts'

/** The role that each procedure needs, on every transport. A new procedure does not compile without one. */
export const procedureRoles: Readonly<Record<ProcedureName, Role>> = {
  'overview.get': 'viewer',
  'overview.samples': 'viewer',
  'overview.dismiss_welcome': 'admin',
  'overview.dismiss_losses': 'admin',
  'overview.dismiss_older_client': 'admin',
  'licence.get': 'viewer',
  'licence.set': 'admin',
  // Pages ask for defaults, language and limits; its secrets are hidden from everybody.
  'settings.get': 'viewer',
  'settings.check': 'admin',
  'settings.set': 'admin',
  'listeners.restart': 'admin',
  'tls.info': 'viewer',
  'backups.list': 'admin',
  'backups.make': 'admin',
  'backups.keep': 'admin',
  'backups.delete': 'admin',
  'backups.read': 'admin',
  'backups.write': 'admin',
  'backups.add': 'admin',
  'backups.preview': 'admin',
  'backups.restore': 'admin',
  'console.replace_key': 'admin',

  // Everybody's own; what needs an account says so where there is none.
  'account.me': 'viewer',
  'account.change_password': 'viewer',
  'account.sessions': 'viewer',
  'account.end_session': 'viewer',
  'account.end_other_sessions': 'viewer',
  'account.tokens': 'viewer',
  'account.create_token': 'viewer',
  'account.revoke_token': 'viewer',
  'accounts.list': 'admin',
  'accounts.create': 'admin',
  'accounts.update': 'admin',
  'accounts.reset_password': 'admin',
  'accounts.delete': 'admin',
  'accounts.sessions': 'admin',
  'accounts.end_session': 'admin',
  'accounts.end_sessions': 'admin',
  'accounts.tokens': 'admin',
  'accounts.create_token': 'admin',
  'accounts.revoke_token': 'admin',

  'credentials.list': 'viewer',
  'credentials.create': 'admin',
  'credentials.update': 'admin',
  'credentials.rotate': 'admin',
  'credentials.reveal': 'admin',
  'credentials.delete': 'admin',
  'credentials.end_sessions': 'admin',
  // Its digest authenticates.
  'credentials.curl': 'admin',

  'rooms.list': 'viewer',
  'rooms.get': 'viewer',
  // Who runs rooms sets a new password, or hands out a link as host.
  'rooms.reveal_password': 'admin',
  'rooms.create': 'operator',
  'rooms.update': 'operator',
  'rooms.lock': 'operator',
  'rooms.unlock': 'operator',
  'rooms.close': 'operator',
  'rooms.reopen': 'operator',
  'rooms.delete': 'operator',
  'rooms.kick': 'operator',

  'nodes.list': 'viewer',
  'nodes.proposal': 'viewer',
  'nodes.add': 'admin',
  'nodes.add_embedded': 'admin',
  'nodes.update': 'admin',
  'nodes.enable': 'admin',
  'nodes.disable': 'admin',
  'nodes.drain': 'admin',
  'nodes.undrain': 'admin',
  'nodes.remove': 'admin',
  'nodes.janus_config': 'admin',
  'nodes.test': 'admin',

  'controllers.list': 'viewer',
  'controllers.lead': 'admin',

  'devices.list': 'viewer',
  'devices.history': 'viewer',
  'devices.parse_address': 'operator',
  'devices.probe': 'operator',
  'devices.create': 'operator',
  'devices.update': 'operator',
  'devices.pause': 'operator',
  'devices.resume': 'operator',
  'devices.retry': 'operator',
  'devices.remove': 'operator',
  'devices.import_preview': 'operator',
  'devices.import': 'operator',
  'devices.export': 'operator',

  'relays.list': 'viewer',

  'media.stats': 'viewer',
  'media.transcoding': 'viewer',
  // These hand out a token; media.watch does not.
  'media.preview_stream': 'operator',
  'media.preview_device': 'operator',
  'media.key_picture': 'viewer',
  'media.watch': 'viewer',
  'media.answer': 'viewer',
  'media.show': 'viewer',
  'media.unwatch': 'viewer',
  // As a member; see roleOfCall.
  'media.join_link': 'viewer',
  'media.participant_token': 'operator',
  'media.revoke_links': 'operator',

  'wall.list': 'viewer',
  'wall.save': 'operator',
  'wall.remove': 'operator',

  'activity.list': 'viewer',
  'activity.clear': 'admin',
  'activity.export': 'viewer',
  'events.list': 'viewer',
  'events.verify': 'operator',

  'tester.operations': 'viewer',
  // It sends as any credential, with its secret.
  'tester.send': 'admin',

  'lab.state': 'viewer',
  'lab.faults': 'viewer',
  'lab.join': 'operator',
  'lab.leave': 'operator',
  'lab.node_trouble': 'operator',
  'lab.device_trouble': 'operator',
  'lab.lose_device': 'operator',
  // These hit real clients.
  'lab.set_faults': 'admin',
  'lab.stall_store': 'admin',
}

/** What makes a lasting way in, or changes one: an access token does none of it, for one that was stolen would outlive its end. */
const neverByToken: ReadonlySet<ProcedureName> = new Set<ProcedureName>([
  'account.change_password',
  'account.create_token',
  'accounts.create',
  'accounts.update',
  'accounts.reset_password',
  'accounts.create_token',
  'console.replace_key',
])

/** Whether an access token may call it, where its role is enough. */
export function mayTokenCall(name: ProcedureName): boolean {
  return !neverByToken.has(name)
}

/** Procedures that need more for some inputs. */
const inputRoles: { readonly [N in ProcedureName]?: (input: ProcedureParsed<N>) => Role } = {
  'media.join_link': ({ role }) => (role === 'host' ? 'operator' : 'viewer'),
}

/** The role that a call needs, once its input is known; `input` has the form that the procedure's schema makes. */
export function roleOfCall(name: ProcedureName, input: unknown): Role {
  // The table is typed name by name; a name that is only known at run time needs it untyped once.
  const further = inputRoles[name] as ((input: unknown) => Role) | undefined
  return further?.(input) ?? procedureRoles[name]
}
