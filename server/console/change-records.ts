import type { EventFields } from '../../shared/console/events.ts'
import type { AccessTokenView } from '../../shared/console/accounts.ts'
import { isCamera } from './camera-streams.ts'
import { type ChangeRecords, type Named, recordedAs, unrecorded } from './change-record.ts'

const room = (id: string): Named => ({ type: 'room', id })
const device = (id: string): Named => ({ type: 'device', id })
const node = (id: string): Named => ({ type: 'node', id })
const credential = (id: string): Named => ({ type: 'credential', id })
const wall = (id: string): Named => ({ type: 'wall', id })
const account = (id: string): Named => ({ type: 'account', id })
const settings: readonly Named[] = [{ type: 'settings', id: 'site' }]
const site: readonly Named[] = [{ type: 'site', id: '' }]
const lab = (id: string): readonly Named[] => [{ type: 'lab', id }]

const tokenFacts = (_: unknown, { access }: { access: AccessTokenView }): EventFields => ({
  label: access.label,
  role: access.role,
  scopes: access.scopes.join(' '),
  expires_at: access.expires_at,
})

type Bulk = { failed: readonly { key: string }[] }
const keysOf = ({ failed }: Bulk): string[] => failed.map(({ key }) => key)
const ofRooms = { changes: ({ room_ids }: { room_ids: string[] }) => room_ids.map(room), failed: keysOf }
const ofDevices = { changes: ({ userIds }: { userIds: string[] }) => userIds.map(device), failed: keysOf }
const idsOf = <K extends string>(
  { changes }: { changes: readonly Readonly<Record<K, readonly string[]>>[] },
  ids: K,
): string[] => [...new Set(changes.flatMap((change) => change[ids]))]
const ofNode = { changes: ({ name }: { name: string }) => [node(name)] }
const ofCredential = { changes: ({ access_key }: { access_key: string }) => [credential(access_key)] }

const restores = (named: (id: string) => Named) => ({
  makes: ({ restored }: { restored: readonly string[] }) => restored.map(named),
})

const ofAccount = { changes: ({ id }: { id: string }) => [account(id)] }

/** Record in the event log of every procedure that is more than a read. A new one without an entry here does not compile. */
export const changeRecords: ChangeRecords = {
  'overview.dismiss_welcome': unrecorded('only hides a page'),
  'first_run.save': unrecorded('only remembers a page of the first run'),
  'first_run.make_room': { makes: ({ room_id }) => [room(room_id)] },
  'first_run.add_camera': { makes: ({ userId }) => [device(userId)] },
  'first_run.add_test_camera': { makes: ({ userId }) => [device(userId)] },
  'overview.dismiss_losses': { changes: () => site, always: true },
  'overview.dismiss_older_client': { changes: () => site, params: ({ client }) => ({ client }), always: true },
  'licence.set': { changes: () => [{ type: 'licence', id: 'site' }] },
  'settings.set': { changes: () => settings },
  'listeners.restart': { changes: () => site, always: true },
  'backups.make': { makes: ({ name }) => [{ type: 'backup', id: name }], always: true },
  'backups.keep': {
    changes: ({ name }) => [{ type: 'backup', id: name }],
    params: ({ kept }) => ({ kept: String(kept) }),
    always: true,
  },
  'backups.delete': { changes: ({ name }) => [{ type: 'backup', id: name }], always: true },
  'backups.read': {
    changes: ({ name }) => [{ type: 'backup', id: name }],
    goesOn: ({ offset }) => offset > 0,
    always: true,
  },
  'backups.write': unrecorded('a part of an upload; backups.add is recorded'),
  'backups.add': { makes: ({ name }) => [{ type: 'backup', id: name }], always: true },
  'backups.restore': { changes: () => [...site, ...settings], params: ({ name }) => ({ backup: name }), always: true },
  'console.replace_key': { changes: () => site, always: true },

  'account.confirm_password': recordedAs('signIn.refused'),
  'account.change_password': { changes: (_, { accountId = '' }) => [account(accountId)] },
  'account.end_session': { changes: (_, { accountId = '' }) => [account(accountId)], always: true },
  'account.end_other_sessions': {
    changes: (_, { accountId = '' }) => [account(accountId)],
    params: (_, { ended }) => ({ ended }),
    always: true,
  },
  'account.create_token': { makes: ({ access }) => [account(access.account_id)], params: tokenFacts, always: true },
  'account.revoke_token': { changes: (_, { accountId = '' }) => [account(accountId)], always: true },
  'accounts.create': { makes: ({ id }) => [account(id)] },
  'accounts.update': ofAccount,
  'accounts.reset_password': ofAccount,
  'accounts.delete': ofAccount,
  'accounts.end_session': {
    changes: ({ id }, _, store) => [account(store.get('account_sessions', id)?.account ?? '')],
    always: true,
  },
  'accounts.end_sessions': { ...ofAccount, params: (_, { ended }) => ({ ended }), always: true },
  'accounts.create_token': { makes: ({ access }) => [account(access.account_id)], params: tokenFacts, always: true },
  'accounts.revoke_token': {
    changes: ({ id }, _, store) => [account(store.get('access_tokens', id)?.account ?? '')],
    always: true,
  },

  'credentials.create': { makes: ({ credential: { access_key } }) => [credential(access_key)] },
  'credentials.update': ofCredential,
  'credentials.rotate': { ...ofCredential, params: ({ end_links }) => ({ end_links }) },
  'credentials.reveal': { ...ofCredential, shows: true },
  'credentials.delete': ofCredential,
  'credentials.restore': restores(credential),
  'credentials.end_sessions': { ...ofCredential, params: (_, { ended }) => ({ ended }), always: true },
  'credentials.curl': { ...ofCredential, shows: true },

  'rooms.reveal_password': { changes: ({ room_id }) => [room(room_id)], shows: true },
  'rooms.create': { makes: ({ room_id }) => [room(room_id)] },
  'rooms.update': { changes: ({ room_id }) => [room(room_id)] },
  'rooms.set_tags': { changes: ({ room_id }) => [room(room_id)] },
  'rooms.change_tags': { changes: (input) => idsOf(input, 'room_ids').map(room), failed: keysOf },
  'rooms.lock': ofRooms,
  'rooms.unlock': ofRooms,
  'rooms.close': ofRooms,
  'rooms.reopen': ofRooms,
  'rooms.delete': ofRooms,
  'rooms.open_now': { changes: ({ room_id }) => [room(room_id)], always: true },
  'rooms.end_now': { changes: ({ room_id }) => [room(room_id)], always: true },
  'rooms.restore': restores(room),
  'rooms.kick': {
    changes: ({ user_id }) => [{ type: 'person', id: user_id }],
    room: ({ room_id }) => room_id,
    always: true,
  },

  'templates.save': { changes: () => site, params: (_, { name }) => ({ name }), always: true },
  'templates.remove': {
    changes: () => site,
    params: ({ id }) => ({ id }),
    always: true,
  },

  'waiting.admit': {
    room: ({ room_id }) => room_id,
    acts: { kind: 'person.letIn', people: ({ people }) => people },
  },
  'waiting.refuse': {
    room: ({ room_id }) => room_id,
    acts: { kind: 'person.turnedAway', people: ({ people }) => people },
  },
  // Its text is for the guest alone.
  'waiting.message': {
    changes: ({ room_id }) => [room(room_id)],
    params: (_, { reached }) => ({ reached }),
    always: true,
  },

  'nodes.add': { makes: ({ config: { name } }) => [node(name)] },
  'nodes.add_embedded': { makes: (views) => views.map(({ config: { name } }) => node(name)) },
  'nodes.update': ofNode,
  'nodes.enable': ofNode,
  'nodes.disable': ofNode,
  'nodes.drain': ofNode,
  'nodes.undrain': ofNode,
  'nodes.remove': ofNode,
  'nodes.restore': restores(node),
  'nodes.janus_config': { ...ofNode, shows: true },
  'nodes.test': {
    changes: ({ name }) => [node(name)],
    params: ({ ws_url }) => ({ host: URL.parse(ws_url)?.host ?? '' }),
    always: true,
  },

  'controllers.lead': { changes: () => site, params: (_, { name }) => ({ controller: name }), always: true },

  'devices.change_login': { changes: ({ userId }) => [device(userId)] },
  'devices.create': { makes: ({ userId }) => [device(userId)] },
  'devices.update': { changes: ({ userId }) => [device(userId)] },
  'devices.set_tags': { changes: ({ userId }) => [device(userId)] },
  'devices.change_tags': { changes: (input) => idsOf(input, 'userIds').map(device), failed: keysOf },
  'devices.pause': ofDevices,
  'devices.resume': ofDevices,
  'devices.retry': { ...ofDevices, always: true },
  'devices.remove': ofDevices,
  'devices.restore': restores(device),
  'devices.import': {
    makes: (lines) =>
      lines.filter(({ action }) => action === 'create' || action === 'update').map(({ userId }) => device(userId)),
  },
  'devices.export': { changes: () => site, always: true },

  // Their token opens every stream of the room.
  'media.preview_stream': {
    changes: ({ room_id }) => [room(room_id)],
    params: ({ stream_id }) => ({ stream: stream_id }),
    watches: true,
  },
  'media.preview_device': {
    changes: ({ userId }, _, store) => [room(store.get('devices', userId)?.roomId ?? '')],
    params: ({ userId }) => ({ stream: userId }),
    watches: true,
  },
  'media.watch': {
    changes: ({ room_id, stream_id }, _, store) => (isCamera(store, room_id, stream_id) ? [] : [room(room_id)]),
    params: ({ stream_id }) => ({ stream: stream_id }),
    goesOn: () => true,
    watches: true,
  },
  'media.announce_restart': {
    changes: () => site,
    params: ({ in_ms }) => ({ seconds: Math.round(in_ms / 1_000) }),
    always: true,
  },
  'media.withdraw_restart': { changes: () => site, always: true },
  'media.join_link': {
    changes: ({ room_id }) => [room(room_id)],
    params: ({ user_id = '', role }, { expires_at }) => ({ user: user_id, role, expires_at }),
    always: true,
  },
  'media.join_now': {
    changes: ({ room_id }) => [room(room_id)],
    params: (_, { expires_at }) => ({ expires_at }),
    always: true,
  },

  'media.participant_token': {
    changes: ({ room_id }) => [room(room_id)],
    params: ({ user_id, role }, { expires_at }) => ({ user: user_id, role, expires_at }),
    always: true,
  },
  'media.revoke_links': {
    changes: ({ room_id }) => [room(room_id)],
    params: ({ url }) => ({ all: url === undefined }),
    always: true,
  },

  'exports.start': recordedAs('recording.exported'),
  'exports.cancel': unrecorded('removes a copy of the caller'),
  'recordings.test_objects': {
    changes: () => settings,
    params: ({ endpoint }) => ({ endpoint }),
    always: true,
  },
  'recordings.start': recordedAs('recording.started'),
  'recordings.stop': recordedAs('recording.stopped'),
  'recordings.delete': recordedAs('recording.deleted'),
  'recordings.keep': {
    changes: ({ streams }) => [...new Set(streams.map(({ room_id }) => room_id))].map(room),
    params: ({ from, to, note }) => ({ from, to, note }),
    always: true,
  },
  'recordings.unkeep': { changes: () => site, always: true },
  'recordings.set_rule': {
    changes: ({ room_id, user_id }) => [user_id === undefined ? room(room_id) : device(user_id)],
  },

  'orders.record': { changes: ({ room_id }) => [room(room_id)], params: ({ name }) => ({ name }), always: true },
  'orders.stop_recording': { changes: () => site, params: ({ id }) => ({ id }), always: true },
  'orders.renew_recording': { changes: () => site, params: ({ id }) => ({ id }), always: true },
  'orders.delete_recording': { changes: () => site, params: ({ id }) => ({ id }), always: true },
  'orders.stream': { changes: ({ room_id }) => [room(room_id)], params: ({ name }) => ({ name }), always: true },
  'orders.stop_live': { changes: () => site, params: ({ id }) => ({ id }), always: true },
  'orders.delete_live': { changes: () => site, params: ({ id }) => ({ id }), always: true },
  // The link alone lets anybody watch.
  'orders.live_link': { changes: ({ room_id }) => [room(room_id)], params: ({ ttl }) => ({ ttl }), always: true },

  'capabilities.revoke': { changes: () => site, params: (_, { revoked }) => ({ revoked }), always: true },
  'capabilities.revoke_all': {
    changes: ({ room_id }) => (room_id === undefined ? site : [room(room_id)]),
    params: ({ maker }, { revoked }) => ({ revoked, maker: maker?.type ?? '', maker_id: maker?.id ?? '' }),
    always: true,
  },

  'wall.save': {
    changes: ({ id }) => (id === undefined ? [] : [wall(id)]),
    makes: ({ id, revision }) => (revision === 1 ? [wall(id)] : []),
  },
  'wall.bring': unrecorded('only changes what open walls show'),
  'wall.remove': { changes: ({ id }) => [wall(id)] },
  'wall.restore': restores(wall),

  'trash.purge': { changes: () => site, params: (_, { done }) => ({ things: done }), always: true },
  'trash.empty': { changes: () => site, params: (_, { done }) => ({ things: done }), always: true },

  'activity.clear': { changes: () => site, always: true },

  // The request that the tester sends is recorded as that of a client; the tester's answer shows a live token, a digest or the secret itself.
  'tester.send': {
    changes: ({ access_key }) => (access_key === '' ? [] : [credential(access_key)]),
    params: ({ operation }) => ({ operation }),
    shows: true,
  },

  'diagnostics.make': {
    changes: () => site,
    params: ({ names, crash_reports }) => ({ names: String(names), crash_reports: String(crash_reports) }),
    always: true,
  },

  'lab.join': recordedAs('person.joined'),
  'lab.leave': recordedAs('person.left'),
  'lab.node_trouble': {
    changes: ({ name }) => [node(name)],
    params: ({ mode, delay_ms }) => ({ mode, delay_ms }),
    always: true,
  },
  'lab.device_trouble': {
    changes: ({ name }) => [node(name)],
    params: ({ rules }) => ({ rules: rules.length }),
    always: true,
  },
  'lab.lose_device': { changes: ({ userId }) => [device(userId)], params: ({ kind }) => ({ kind }), always: true },
  'lab.set_faults': {
    changes: () => lab('faults'),
    params: ({ rules }) => ({ rules: rules.length, operations: rules.map(({ operation }) => operation).join(', ') }),
    always: true,
  },
  'lab.stall_store': {
    changes: () => lab('disk'),
    params: ({ stalled, minutes }) => ({ stalled, minutes }),
    always: true,
  },
}
