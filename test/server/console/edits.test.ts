import { expect, test } from 'vitest'
import {
  declarationOf,
  type EditProcedure,
  isProcedureName,
  type ProcedureInput,
  procedures,
} from '../../../shared/console/contract.ts'
import type { EditConflict } from '../../../shared/domain/edit-conflict.ts'
import { controllerSite, openControllerSite, password } from '../../support/sites/controller-site.ts'
import { shared } from '../../support/fixtures.ts'

const site = shared(() =>
  openControllerSite({
    nodes: [{ name: 'lab', kind: 'simulated', addresses: [{ tag: 'local', addr: '10.0.0.5:7082' }] }],
  }),
)
const key = shared(() => site().key())
const roomId = shared(async () => {
  const roomId: string = (await site().call(key(), 'rooms.create', { topic: 'Board' })).room_id
  await site().call(key(), 'devices.create', {
    roomId,
    userId: 'gate',
    userName: 'Gate',
    userAddress: 'rtsp://10.0.0.9/1',
  })
  return roomId
})
const credential = shared(
  async () => (await site().call(key(), 'credentials.create', { label: 'Clients' })).credential.access_key,
)
const account = shared(
  async () => (await site().call(key(), 'accounts.create', { name: 'anna', role: 'admin', password })).id,
)
const template = shared(
  async () => (await site().call(key(), 'templates.save', { name: 'Talk', settings: { topic: 'Talk' } })).id,
)
const view = shared(
  async () => (await site().call(key(), 'wall.save', { name: 'Doors', items: [{ kind: 'camera', id: 'gate' }] })).id,
)

/** How two people edit one record by a procedure. */
interface Edits<N extends EditProcedure> {
  version: () => Promise<string>
  /** Edits of the same field. */
  mine: () => ProcedureInput<N>
  theirs: () => ProcedureInput<N>
  /** Field of both. */
  field: string
  /** Changes another field of the record. */
  apart: () => Promise<unknown>
  /** No answer shows the value. */
  secret?: true
}

const room = async () => (await site().call(key(), 'rooms.get', { room_id: roomId() })).room
const device = async () => (await site().call(key(), 'devices.list', {}))[0]
const client = async () =>
  (await site().call(key(), 'credentials.list', {})).find(({ access_key }) => access_key === credential())
const versionOf = async (found: Promise<{ version: string } | undefined>): Promise<string> =>
  (await found)?.version ?? ''
let count = 0
/** A value that no edit before has sent. */
const fresh = (): string => `value ${++count}`
/** Counts up from a value that is not the default of its field; each field has its own range. */
const numbers = (next: number) => () => next++
const attendees = numbers(10)
const weight = numbers(2)
const nodeUsers = numbers(10)
const minute = numbers(1)
const rotation = numbers(10)
const licensedRooms = numbers(1_000)
const licensedUsers = numbers(1_000)
const trashDays = numbers(10)
const pictureDays = numbers(10)
const renameRoom = () => site().call(key(), 'rooms.update', { room_id: roomId(), topic: fresh() })
const renameDevice = () => site().call(key(), 'devices.update', { userId: 'gate', userName: fresh() })

/** A new procedure that edits a record does not compile without an entry. */
const edits: { [N in EditProcedure]: Edits<N> } = {
  'rooms.update': {
    version: () => versionOf(room()),
    mine: () => ({ room_id: roomId(), topic: fresh() }),
    theirs: () => ({ room_id: roomId(), topic: fresh() }),
    field: 'topic',
    apart: () => site().call(key(), 'rooms.update', { room_id: roomId(), attendee_max: attendees() }),
  },
  'rooms.set_tags': {
    version: () => versionOf(room()),
    mine: () => ({ room_id: roomId(), tags: [fresh()] }),
    theirs: () => ({ room_id: roomId(), tags: [fresh()] }),
    field: 'tags',
    apart: renameRoom,
  },
  'recordings.set_rule': {
    version: () => versionOf(site().call(key(), 'recordings.rule', { room_id: roomId() })),
    mine: () => ({ room_id: roomId(), rule: { when: 'always' } }),
    theirs: () => ({ room_id: roomId(), rule: { when: 'hours', hours: [hours(minute())] } }),
    field: 'rule',
    apart: renameRoom,
  },
  'devices.update': {
    version: () => versionOf(device()),
    mine: () => ({ userId: 'gate', userData: fresh() }),
    theirs: () => ({ userId: 'gate', userData: fresh() }),
    field: 'userData',
    apart: renameDevice,
  },
  'devices.set_tags': {
    version: () => versionOf(device()),
    mine: () => ({ userId: 'gate', tags: [fresh()] }),
    theirs: () => ({ userId: 'gate', tags: [fresh()] }),
    field: 'tags',
    apart: renameDevice,
  },
  'devices.change_login': {
    version: () => versionOf(device()),
    mine: () => ({ userId: 'gate', login_name: 'admin', login_password: fresh(), always: true }),
    theirs: () => ({ userId: 'gate', login_name: 'admin', login_password: fresh(), always: true }),
    field: 'login_password',
    apart: renameDevice,
    secret: true,
  },
  'nodes.update': {
    version: () =>
      versionOf(
        site()
          .call(key(), 'nodes.list', {})
          .then((nodes) => nodes[0]),
      ),
    mine: () => ({ name: 'lab', kind: 'simulated', addresses: lab, weight: weight() }),
    theirs: () => ({ name: 'lab', kind: 'simulated', addresses: lab, weight: weight() }),
    field: 'weight',
    apart: async () =>
      site().call(key(), 'nodes.update', {
        name: 'lab',
        expected_version: await edits['nodes.update'].version(),
        max_users: nodeUsers(),
      }),
  },
  'credentials.update': {
    version: () => versionOf(client()),
    mine: () => ({ access_key: credential(), label: fresh() }),
    theirs: () => ({ access_key: credential(), label: fresh() }),
    field: 'label',
    apart: async () =>
      site().call(key(), 'credentials.update', { access_key: credential(), p2p: (await client())?.p2p !== true }),
  },
  'accounts.update': {
    version: () =>
      versionOf(
        site()
          .call(key(), 'accounts.list', {})
          .then((all) => all.find(({ id }) => id === account())),
      ),
    mine: () => ({ id: account(), name: fresh() }),
    theirs: () => ({ id: account(), name: fresh() }),
    field: 'name',
    apart: () => site().call(key(), 'accounts.update', { id: account(), role: 'admin' }),
  },
  'templates.save': {
    version: () =>
      versionOf(
        site()
          .call(key(), 'templates.list', {})
          .then((all) => all.find(({ id }) => id === template())),
      ),
    mine: () => ({ id: template(), name: fresh() }),
    theirs: () => ({ id: template(), name: fresh() }),
    field: 'name',
    apart: () => site().call(key(), 'templates.save', { id: template(), settings: { topic: fresh() } }),
  },
  'wall.save': {
    version: () =>
      versionOf(
        site()
          .call(key(), 'wall.list', {})
          .then((all) => all.find(({ id }) => id === view())),
      ),
    mine: () => ({ id: view(), name: fresh() }),
    theirs: () => ({ id: view(), name: fresh() }),
    field: 'name',
    apart: () => site().call(key(), 'wall.save', { id: view(), arrangement: { rotate_s: rotation() } }),
  },
  'licence.set': {
    version: () => versionOf(site().call(key(), 'licence.get', {})),
    mine: () => ({ max_rooms: licensedRooms() }),
    theirs: () => ({ max_rooms: licensedRooms() }),
    field: 'max_rooms',
    apart: async () =>
      site().call(key(), 'licence.set', {
        expected_version: await edits['licence.set'].version(),
        max_users: licensedUsers(),
      }),
  },
  'settings.set': {
    version: () => versionOf(site().call(key(), 'settings.get', {})),
    mine: () => ({ trash: { days: trashDays() } }),
    theirs: () => ({ trash: { days: trashDays() } }),
    field: 'trash.days',
    apart: () => site().call(key(), 'settings.set', { pictures: { days: pictureDays() } }),
  },
}
const lab = [{ tag: 'local', addr: '10.0.0.5:7082' }]
const hours = (minute: number) => ({
  days: [1],
  from: '08:00',
  to: `18:${String(minute % 60).padStart(2, '0')}`,
  zone: 'UTC',
})

const names = Object.keys(procedures).filter((name): name is EditProcedure => name in edits)

test('every procedure that is declared to edit a record is in this table', () => {
  const declared = Object.keys(procedures).filter(
    (name) => isProcedureName(name) && typeof declarationOf(name).edits === 'function',
  )
  expect(names).toEqual(declared)
})

test.each(names)(
  '%s refuses a field that others changed since the version, and names them and their value',
  async (name) => {
    // The table is typed by name; a name known only at run time needs it untyped once.
    const { version, mine, theirs, field, secret } = edits[name] as Edits<'rooms.update'>
    const edit = (input: object) => site().result(key(), name, input)
    const seen = await version()
    expect(await edit(theirs())).toMatchObject({ ok: true })
    const refused = await edit({ ...mine(), expected_version: seen })
    expect(refused).toMatchObject({ ok: false, status: 409, error: { code: 'conflict', name: 'changedMeanwhile' } })
    const { conflict } = (refused as { error: { conflict: EditConflict } }).error
    expect(conflict.fields).toMatchObject([
      {
        field,
        changed: { by: { type: 'operator', name: 'console key', address: '127.0.0.1' }, at: expect.any(Number) },
      },
    ])
    expect('current' in (conflict.fields[0] ?? {})).toBe(secret !== true)
    expect(conflict.version).toBe(await version())
    // Whoever has seen it may replace it, and without a version the last one wins.
    expect(await edit({ ...mine(), expected_version: conflict.version })).toMatchObject({ ok: true })
    expect(await edit(theirs())).toMatchObject({ ok: true })
  },
)

test.each(names)('%s keeps what others changed beside it', async (name) => {
  const { version, mine, apart } = edits[name] as Edits<'rooms.update'>
  const seen = await version()
  await apart()
  const apartFrom = await version()
  expect(await site().result(key(), name, { ...mine(), expected_version: seen })).toMatchObject({ ok: true })
  if (name !== 'accounts.update') expect(apartFrom).not.toBe(seen)
  expect(await version()).not.toBe(apartFrom)
})

test('saving the topic in one console leaves on the waiting room that another one has switched on', async () => {
  const { version } = await room()
  await site().call(key(), 'rooms.update', { room_id: roomId(), waiting_room: true, expected_version: version })
  const saved = await site().call(key(), 'rooms.update', {
    room_id: roomId(),
    topic: 'Council',
    expected_version: version,
  })
  expect(saved).toMatchObject({ topic: 'Council', waiting_room: true })
  const { items } = await site().call(key(), 'events.list', { subject: { type: 'room', id: roomId() }, limit: 1 })
  expect(items).toMatchObject([{ after: { topic: 'Council' } }])
})

test('a version outlives saves that change nothing, of settings with secrets, too', async () => {
  const ice_servers = [{ urls: ['turn:10.0.0.7:3478'], username: 'u', credential: 'turn-secret' }]
  await site().call(key(), 'settings.set', {
    media: { ice_servers },
    object_storage: { endpoint: 'https://10.0.0.8', access_key_id: 'id', secret_access_key: 'storage-secret' },
  })
  const { version, ...read } = await site().call(key(), 'settings.get', {})
  expect(JSON.stringify(read)).not.toContain('turn-secret')
  expect(
    (await site().call(key(), 'settings.set', { media: read.media, object_storage: read.object_storage, version }))
      .version,
  ).toBe(version)
  // The versions are no settings: what may be changed is judged by the others alone.
  const room_defaults = { attendee_max: 7 }
  const saved = await site().call(key(), 'settings.set', { room_defaults, version, expected_version: version })
  expect(saved.room_defaults.attendee_max).toBe(7)
})

test('the event of a renamed template has the old and the new name', async () => {
  const { id } = await site().call(key(), 'templates.save', { name: 'Weekly', settings: { topic: 'Weekly' } })
  await site().call(key(), 'templates.save', { id, name: 'Monthly' })
  const { items } = await site().call(key(), 'events.list', { subject: { type: 'template', id }, limit: 1 })
  expect(items).toMatchObject([{ before: { name: 'Weekly' }, after: { name: 'Monthly' } }])
})

test('a site file replaces what was changed by hand since, and leaves an event with both values', async () => {
  const document = { settings: { trash: { days: 9 } } }
  const own = await controllerSite(document)
  await own.call(await own.key(), 'settings.set', { trash: { days: 12 } })
  await own.restart(document)
  const again = await own.key()
  expect((await own.call(again, 'settings.get', {})).trash.days).toBe(9)
  const { items } = await own.call(again, 'events.list', { subject: { type: 'settings', id: 'site' }, limit: 1 })
  expect(items).toMatchObject([
    { actor: { type: 'siteFile' }, before: { 'trash.days': 12 }, after: { 'trash.days': 9 } },
  ])
})
