import type { EventParams } from '../../shared/console/event-values.ts'
import { countChanges, type PlannedChange, recordsPut } from '../store/change-cause.ts'
import type { CollectionName } from '../store/store.ts'
import { isCamera } from './camera-streams.ts'
import { type ChangeRecords, type Named, recordedAs, unrecorded } from './change-record.ts'
import type { CallOrigin } from './handlers.ts'

const room = (id: string): Named => ({ type: 'room', id })
const device = (id: string): Named => ({ type: 'device', id })
const node = (id: string): Named => ({ type: 'node', id })
const credential = (id: string): Named => ({ type: 'credential', id })
const backup = (id: string): Named => ({ type: 'backup', id })
const account = (id: string): Named => ({ type: 'account', id })
const settings: readonly Named[] = [{ type: 'settings', id: 'site' }]
const site: readonly Named[] = [{ type: 'site', id: '' }]
const lab = (id: string): readonly Named[] => [{ type: 'lab', id }]

/** A new access token as the store has it. */
const tokenFacts = (_: unknown, planned: PlannedChange | undefined): EventParams => {
  const [token] = planned === undefined ? [] : recordsPut(planned, 'access_tokens')
  if (token === undefined) return {}
  const { label, role = planned?.after.get('accounts', token.account)?.role ?? '', scopes = [], expires_at } = token
  return { label, role, scopes: scopes.join(' '), expires_at }
}

/** Number of records that a transaction changes, under a name. */
const counted =
  (name: string, collection: CollectionName) =>
  (_: unknown, planned: PlannedChange | undefined): EventParams => ({
    [name]: planned === undefined ? 0 : countChanges(planned, collection),
  })

/** Expiry of the capability that a transaction makes. */
const expiryOf = (planned: PlannedChange | undefined): EventParams => {
  const [made] = planned === undefined ? [] : recordsPut(planned, 'capabilities')
  return made === undefined ? {} : { expires_at: made.expires_at }
}

const rooms = { records: ['room'] } as const
const devices = { records: ['device'] } as const
const nodes = { records: ['node'] } as const
const credentials = { records: ['credential'] } as const
const walls = { records: ['wall'] } as const
const templates = { records: ['template'] } as const
const accounts = { records: ['account'] } as const

const ofCredential = { about: ({ access_key }: { access_key: string }) => [credential(access_key)] }
const ofOrder = { about: () => site, facts: ({ id }: { id: string }): EventParams => ({ id }) }

/** Name of the template that a transaction stores. */
const templateFacts = (_: unknown, planned: PlannedChange | undefined): EventParams => {
  const [saved] = planned === undefined ? [] : recordsPut(planned, 'room_templates')
  return saved === undefined ? {} : { name: saved.name }
}

const ownAccount = (_: unknown, { accountId = '' }: CallOrigin): Named[] => [account(accountId)]

/** Record in the event log of every procedure that is more than a read. A new one without an entry here does not compile. */
export const changeRecords: ChangeRecords = {
  'overview.dismiss_welcome': unrecorded('only hides a page'),
  'first_run.save': unrecorded('only remembers a page of the first run'),
  'first_run.make_room': rooms,
  'first_run.add_camera': devices,
  'first_run.add_test_camera': devices,
  'overview.dismiss_losses': { outside: 'files', about: () => site },
  'overview.dismiss_older_client': { outside: 'memory', about: () => site, params: ({ client }) => ({ client }) },
  'licence.set': { records: ['licence'] },
  'settings.set': { records: ['settings'] },
  'listeners.restart': { outside: 'clients', about: () => site },
  'backups.make': { outside: 'files', makes: ({ name }) => [backup(name)] },
  'backups.keep': {
    outside: 'files',
    about: ({ name }) => [backup(name)],
    params: ({ kept }) => ({ kept: String(kept) }),
  },
  'backups.delete': { outside: 'files', about: ({ name }) => [backup(name)] },
  'backups.read': {
    about: ({ name }) => [backup(name)],
    goesOn: ({ offset }) => offset > 0,
  },
  'backups.write': unrecorded('a part of an upload; backups.add is recorded'),
  'backups.add': { outside: 'files', makes: ({ name }) => [backup(name)] },
  'backups.restore': { within: 'any', about: () => [...site, ...settings], facts: ({ name }) => ({ backup: name }) },
  'console.replace_key': { outside: 'files', about: () => site },

  'account.confirm_password': recordedAs('signIn.refused'),
  'account.change_password': accounts,
  'account.end_session': { within: 'account_sessions', about: ownAccount },
  'account.end_other_sessions': {
    within: 'account_sessions',
    about: ownAccount,
    facts: counted('ended', 'account_sessions'),
  },
  'account.create_token': { within: 'access_tokens', about: ownAccount, facts: tokenFacts },
  'account.revoke_token': { within: 'access_tokens', about: ownAccount },
  'accounts.create': accounts,
  'accounts.update': accounts,
  'accounts.reset_password': accounts,
  'accounts.delete': accounts,
  'accounts.end_session': {
    within: 'account_sessions',
    about: ({ id }, _, before) => [account(before.get('account_sessions', id)?.account ?? '')],
  },
  'accounts.end_sessions': {
    within: 'account_sessions',
    about: ({ id }) => [account(id)],
    facts: counted('ended', 'account_sessions'),
  },
  'accounts.create_token': { within: 'access_tokens', about: ({ id }) => [account(id)], facts: tokenFacts },
  'accounts.revoke_token': {
    within: 'access_tokens',
    about: ({ id }, _, before) => [account(before.get('access_tokens', id)?.account ?? '')],
  },

  'credentials.create': credentials,
  'credentials.update': credentials,
  'credentials.rotate': { ...credentials, facts: ({ end_links }) => ({ end_links }) },
  'credentials.reveal': { ...ofCredential, kind: 'secret.shown' },
  'credentials.delete': credentials,
  'credentials.restore': credentials,
  'credentials.end_sessions': { within: 'sessions', ...ofCredential, facts: counted('ended', 'sessions') },
  'credentials.curl': { ...ofCredential, kind: 'secret.shown' },

  'rooms.reveal_password': { about: ({ room_id }) => [room(room_id)], kind: 'secret.shown' },
  'rooms.create': rooms,
  'rooms.update': rooms,
  'rooms.set_tags': rooms,
  'rooms.change_tags': rooms,
  'rooms.lock': rooms,
  'rooms.unlock': rooms,
  'rooms.close': rooms,
  'rooms.reopen': rooms,
  'rooms.delete': rooms,
  'rooms.open_now': { within: 'rooms', about: ({ room_id }) => [room(room_id)] },
  'rooms.end_now': { within: 'rooms', about: ({ room_id }) => [room(room_id)] },
  'rooms.restore': rooms,
  // Nodes have it stored when the person is out.
  'rooms.kick': {
    within: 'rooms',
    about: ({ user_id }) => [{ type: 'person', id: user_id }],
    room: ({ room_id }) => room_id,
  },
  'rooms.mute': { about: ({ user_id }) => [{ type: 'person', id: user_id }], room: ({ room_id }) => room_id },
  'rooms.stop_camera': { about: ({ user_id }) => [{ type: 'person', id: user_id }], room: ({ room_id }) => room_id },

  'templates.save': { ...templates, facts: templateFacts },
  'templates.remove': templates,

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
    about: ({ room_id }) => [room(room_id)],
    params: (_, { reached }) => ({ reached }),
  },

  'nodes.add': nodes,
  'nodes.add_embedded': nodes,
  'nodes.update': nodes,
  'nodes.enable': nodes,
  'nodes.disable': nodes,
  'nodes.drain': nodes,
  'nodes.undrain': nodes,
  'nodes.remove': nodes,
  'nodes.restore': nodes,
  'nodes.janus_config': { about: ({ name }) => [node(name)], kind: 'secret.shown' },
  'nodes.test': {
    about: ({ name }) => [node(name)],
    params: ({ ws_url }) => ({ host: URL.parse(ws_url)?.host ?? '' }),
  },

  // The lead is taken in the database, not in the site's state.
  'controllers.lead': { outside: 'memory', about: () => site, params: (_, { name }) => ({ controller: name }) },

  'devices.change_login': devices,
  'devices.create': devices,
  'devices.update': devices,
  'devices.set_tags': devices,
  'devices.change_tags': devices,
  'devices.pause': devices,
  'devices.resume': devices,
  'devices.retry': {
    outside: 'nodes',
    about: ({ userIds }) => userIds.map(device),
    failed: ({ failed }) => failed.map(({ key }) => key),
  },
  'devices.remove': devices,
  'devices.restore': devices,
  'devices.import': devices,
  'devices.export': { about: () => site },

  // Their token opens every stream of the room.
  'media.preview_stream': {
    about: ({ room_id }) => [room(room_id)],
    params: ({ stream_id }) => ({ stream: stream_id }),
    kind: 'meeting.watched',
  },
  'media.preview_device': {
    about: ({ userId }, _, store) => [room(store.get('devices', userId)?.roomId ?? '')],
    params: ({ userId }) => ({ stream: userId }),
    kind: 'meeting.watched',
  },
  'media.watch': {
    about: ({ room_id, stream_id }, _, store) => (isCamera(store, room_id, stream_id) ? [] : [room(room_id)]),
    params: ({ stream_id }) => ({ stream: stream_id }),
    goesOn: () => true,
    kind: 'meeting.watched',
  },
  'media.announce_restart': {
    outside: 'clients',
    about: () => site,
    params: ({ in_ms }) => ({ seconds: Math.round(in_ms / 1_000) }),
  },
  'media.withdraw_restart': { outside: 'clients', about: () => site },
  'media.join_link': {
    within: 'capabilities',
    about: ({ room_id }) => [room(room_id)],
    facts: ({ user_id = '', role }, planned) => ({ user: user_id, role, ...expiryOf(planned) }),
  },
  'media.join_now': {
    within: 'capabilities',
    about: ({ room_id }) => [room(room_id)],
    facts: (_, planned) => expiryOf(planned),
  },

  'media.participant_token': {
    outside: 'nodes',
    about: ({ room_id }) => [room(room_id)],
    params: ({ user_id, role }, { expires_at }) => ({ user: user_id, role, expires_at }),
  },
  'media.revoke_links': {
    within: 'capabilities',
    about: ({ room_id }) => [room(room_id)],
    facts: ({ url }) => ({ all: url === undefined }),
  },

  'exports.start': recordedAs('recording.exported'),
  'exports.cancel': unrecorded('removes a copy of the caller'),
  'recordings.test_objects': {
    about: () => settings,
    params: ({ endpoint }) => ({ endpoint }),
  },
  'recordings.start': recordedAs('recording.started'),
  'recordings.stop': recordedAs('recording.stopped'),
  'recordings.delete': recordedAs('recording.deleted'),
  'recordings.keep': {
    within: 'recording_keeps',
    about: ({ streams }) => [...new Set(streams.map(({ room_id }) => room_id))].map(room),
    facts: ({ from, to, note }) => ({ from, to, note }),
  },
  'recordings.unkeep': { within: 'recording_keeps', about: () => site },
  'recordings.set_rule': { records: ['room', 'device'] },

  'orders.record': {
    within: 'recordings',
    about: ({ room_id }) => [room(room_id)],
    facts: ({ name }) => ({ name }),
  },
  'orders.stop_recording': { within: 'recordings', ...ofOrder },
  'orders.renew_recording': { within: 'recordings', ...ofOrder },
  'orders.delete_recording': { within: 'recordings', ...ofOrder },
  'orders.stream': { within: 'lives', about: ({ room_id }) => [room(room_id)], facts: ({ name }) => ({ name }) },
  'orders.stop_live': { within: 'lives', ...ofOrder },
  'orders.delete_live': { within: 'lives', ...ofOrder },
  // The link alone lets anybody watch.
  'orders.live_link': {
    within: 'capabilities',
    about: ({ room_id }) => [room(room_id)],
    facts: ({ ttl }) => ({ ttl }),
  },

  'capabilities.revoke': { within: 'capabilities', about: () => site, facts: counted('revoked', 'capabilities') },
  'capabilities.revoke_all': {
    within: 'capabilities',
    about: ({ room_id }) => (room_id === undefined ? site : [room(room_id)]),
    facts: ({ maker }, planned) => ({
      ...counted('revoked', 'capabilities')(undefined, planned),
      maker: maker?.type ?? '',
      maker_id: maker?.id ?? '',
    }),
  },

  'wall.save': walls,
  'wall.bring': unrecorded('only changes what open walls show'),
  'wall.remove': walls,
  'wall.restore': walls,

  'trash.purge': { within: 'trash', about: () => site, facts: counted('things', 'trash') },
  'trash.empty': { within: 'trash', about: () => site, facts: counted('things', 'trash') },

  'activity.clear': { outside: 'memory', about: () => site },

  // The request that the tester sends is recorded as that of a client; the tester's answer shows a live token, a digest or the secret itself.
  'tester.send': {
    outside: 'clients',
    about: ({ access_key }) => (access_key === '' ? [] : [credential(access_key)]),
    params: ({ operation }) => ({ operation }),
    kind: 'secret.shown',
  },

  'diagnostics.make': {
    about: () => site,
    params: ({ names, crash_reports }) => ({ names: String(names), crash_reports: String(crash_reports) }),
  },

  'lab.join': recordedAs('person.joined'),
  'lab.leave': recordedAs('person.left'),
  'lab.node_trouble': {
    outside: 'memory',
    about: ({ name }) => [node(name)],
    params: ({ mode, delay_ms }) => ({ mode, delay_ms }),
  },
  'lab.device_trouble': {
    outside: 'memory',
    about: ({ name }) => [node(name)],
    params: ({ rules }) => ({ rules: rules.length }),
  },
  'lab.lose_device': {
    outside: 'nodes',
    about: ({ userId }) => [device(userId)],
    params: ({ kind }) => ({ kind }),
  },
  'lab.set_faults': {
    outside: 'memory',
    about: () => lab('faults'),
    params: ({ rules }) => ({ rules: rules.length, operations: rules.map(({ operation }) => operation).join(', ') }),
  },
  'lab.stall_store': {
    outside: 'memory',
    about: () => lab('disk'),
    params: ({ stalled, minutes }) => ({ stalled, minutes }),
  },
}
