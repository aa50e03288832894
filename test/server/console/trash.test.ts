import { expect, test } from 'vitest'
import type { ProcedureInput, ProcedureName, ProcedureOutput } from '../../../shared/console/contract.ts'
import { controllerSite } from '../../support/sites/controller-site.ts'

const day = 24 * 60 * 60 * 1_000
const pair = { access_key: 'partner', secret_key: 'partner-secret' }
const camera = {
  userId: 'gate',
  userName: 'Gate',
  userAddress: 'rtsp://10.0.0.9/live',
  login_name: 'u',
  login_password: 'p-1',
}
const simulated = { name: 'main', kind: 'simulated' } as const

/** A site with a simulated node whose clock the test moves, and a caller with the console key. */
async function openSite() {
  let late = 0
  const options = { accountClock: () => Date.now() + late }
  const site = await controllerSite({ nodes: [simulated], credentials: [{ label: 'Partner', ...pair }] }, options)
  const key = await site.key()
  const call = <N extends ProcedureName>(name: N, input: ProcedureInput<N>): Promise<ProcedureOutput<N>> =>
    site.call(key, name, input)
  const failures = async (name: ProcedureName & `${string}.restore`, input: { ids?: string[]; undo?: string }) =>
    (await call(name as 'rooms.restore', input)).failed.map(({ message }) => message)
  const kept = async () => (await call('trash.list', {})).items.map(({ kind, key: of }) => `${kind} ${of}`)
  return {
    ...{ site, key, call, failures, kept, options },
    pass: (milliseconds: number) => {
      late += milliseconds
    },
  }
}

test('An object that an operator deletes is restored unchanged by one undo, also after a restart', async () => {
  const { site, key, call, kept, options } = await openSite()
  const names = await Promise.all(
    ['One', 'Two', 'Three'].map((topic) =>
      call('rooms.create', { topic, host_password: `pw-${topic}`, waiting_room: true }),
    ),
  )
  const [one] = names
  const room_ids = names.map(({ room_id }) => room_id)
  const roomId = one?.room_id ?? ''
  await call('devices.create', { roomId, ...camera })
  const before = await call('rooms.get', { room_id: roomId })

  const { undo, done } = await call('rooms.delete', { room_ids })
  expect(done).toBe(3)
  expect((await call('devices.list', {})).length).toBe(0)
  const list = await call('trash.list', { search: 'one' })
  expect(list).toMatchObject({ total: 1, all: 3, full: false, days: 7 })
  expect(list.items[0]).toMatchObject({
    ...{ kind: 'rooms', key: roomId, name: 'One', cameras: 1 },
    deleted_by: { type: 'operator', name: 'console key' },
  })
  expect(JSON.stringify(list)).not.toMatch(/sealed|pw-One|p-1/)
  expect((list.items[0]?.expires_at ?? 0) - (list.items[0]?.deleted_at ?? 0)).toBe(7 * day)

  await site.restart(undefined, options)
  expect(await call('rooms.restore', { undo })).toMatchObject({ done: 3, failed: [] })
  expect((await call('rooms.get', { room_id: roomId })).room).toMatchObject({
    ...before.room,
    users: expect.any(Number),
    node: expect.any(String),
    status: expect.any(String),
  })
  expect(await call('rooms.reveal_password', { room_id: roomId })).toEqual({ host_password: 'pw-One' })
  expect(await call('devices.list', { roomId })).toMatchObject([{ userId: 'gate', userName: 'Gate', roomId }])
  expect(await kept()).toEqual([])
  expect(await call('rooms.restore', { undo })).toMatchObject({ done: 0, failed: [{ key: undo }] })

  // The log of events goes on under the same number.
  const { items } = await call('events.list', { subject: { type: 'room', id: roomId }, limit: 10 })
  expect(items.flatMap(({ params }) => params.procedure ?? [])).toEqual([
    'rooms.reveal_password',
    'rooms.restore',
    'rooms.delete',
    'rooms.create',
  ])
  expect(items.find(({ params }) => params.procedure === 'rooms.restore')).toMatchObject({
    subject: { name: 'One' },
    actor: { name: 'console key' },
  })

  const viewer = await site.create('Vera', 'viewer').then(() => site.signIn('Vera'))
  expect(await site.result(viewer, 'trash.list', {})).toMatchObject({ error: { code: 'forbidden' } })
  await site.create('Otto', 'operator')
  const operator = await site.signIn('Otto')
  await site.call(operator, 'devices.remove', { userIds: ['gate'] })
  expect((await site.call(operator, 'trash.list', {})).items[0]).toMatchObject({
    key: 'gate',
    deleted_by: { name: 'Otto' },
  })
  expect(await site.result(operator, 'trash.empty', {})).toMatchObject({ error: { code: 'forbidden' } })
  expect(await site.result(key, 'trash.empty', {})).toMatchObject({ value: { done: 1 } })
})

test('Credentials, nodes and views come back with their secrets', async () => {
  const { site, call, kept } = await openSite()
  const before = await site.client(pair)
  expect(before.token).not.toBe('')
  const view = await call('wall.save', { name: 'Doors', items: [{ kind: 'camera', id: 'gate' }] })
  const undos = {
    credentials: (await call('credentials.delete', { access_key: 'partner' })).undo,
    nodes: (await call('nodes.remove', { name: 'main' })).undo,
    wall: (await call('wall.remove', { id: view.id })).undo,
  }
  expect(await kept()).toEqual([`wall_views ${view.id}`, 'nodes main', 'credentials partner'])
  expect((await site.client(pair)).token).toBe('')
  for (const [name, undo] of Object.entries(undos))
    expect(await call(`${name as keyof typeof undos}.restore`, { undo })).toMatchObject({ done: 1, failed: [] })
  // Sessions of before stay ended; the secret is the same.
  expect(await before.get('/rtc/room/get', { room_id: '1' })).toMatchObject({ ret: 602 })
  const after = await site.client(pair)
  expect(await after.get('/sdk/get_mcu', { room_id: await after.createRoom() })).toMatchObject({ ret: 0 })
  expect(await call('wall.list', {})).toEqual([view])

  // Who may delete a credential may not grant access again without the password.
  await site.create('Ada', 'admin')
  const { token } = await site.call(await site.key(), 'accounts.create_token', {
    ...{ id: (await call('accounts.list', {}))[0]?.id ?? '', label: 'script', scopes: ['credentials:write'] },
  })
  const { undo } = await site.call(token, 'credentials.delete', { access_key: 'partner' })
  expect(await site.result(token, 'credentials.restore', { undo })).toMatchObject({ error: { name: 'personNeeded' } })
})

test('Objects that clients delete are gone for clients at once, and kept in the trash', async () => {
  const { site, call, kept } = await openSite()
  const client = await site.client(pair)
  const roomId = await client.createRoom()
  const own = { roomId, userId: 'cam-1', userName: 'Cam', userAddress: 'rtsp://10.0.0.8/live' }
  expect(await client.outgoing('createOutgoingUser', own)).toMatchObject({ ret: 0 })
  expect(await client.outgoing('destroyOutgoingUser', own)).toEqual({
    ret: 0,
    data: { roomId, userId: 'cam-1' },
  })
  expect(await client.get('/rtc/room/del', { room_id: roomId })).toEqual({ ret: 0, room_id: roomId })
  expect(await client.get('/rtc/room/get', { room_id: roomId })).toMatchObject({ ret: 404 })
  expect(await kept()).toEqual([`rooms ${roomId}`, 'devices cam-1'])
  const { items } = await call('trash.list', {})
  expect(items.map(({ deleted_by }) => deleted_by)).toEqual(Array(2).fill({ type: 'client', name: 'partner' }))

  // A chosen number may be used again by then; the old room says what to do about it.
  const extended = await client.createRoom({ room_extend_id: 'lobby', topic: 'Old' })
  await client.get('/rtc/room/del', { room_id: extended })
  await client.createRoom({ room_extend_id: 'lobby', topic: 'New' })
  const old = (await call('trash.list', { kind: 'rooms' })).items.find(({ key }) => key === 'lobby')
  const restore = () => call('rooms.restore', { ids: [old?.id ?? ''] })
  expect((await restore()).failed).toMatchObject([{ name: 'trashRoomTaken', values: { room: 'lobby' } }])
  await call('rooms.delete', { room_ids: ['lobby'] })
  expect(await restore()).toMatchObject({ done: 1, restored: ['lobby'] })
  expect((await call('rooms.get', { room_id: 'lobby' })).room.topic).toBe('Old')
})

test('A camera needs its room and its id to be restored, and the limits of the site apply', async () => {
  const { site, call, failures, pass } = await openSite()
  const [first, second] = await Promise.all(['A', 'B'].map((topic) => call('rooms.create', { topic })))
  const [a, b] = [first?.room_id ?? '', second?.room_id ?? '']
  await call('devices.create', { roomId: a, ...camera })
  const cameraUndo = (await call('devices.remove', { userIds: ['gate'] })).undo
  const roomUndo = (await call('rooms.delete', { room_ids: [a] })).undo
  expect(await failures('devices.restore', { undo: cameraUndo })).toEqual([
    `The room ${a} of the camera gate is in the trash: restore the room first.`,
  ])
  await call('rooms.restore', { undo: roomUndo })
  await call('devices.restore', { undo: cameraUndo })
  const again = (await call('rooms.delete', { room_ids: [a] })).undo
  await call('devices.create', { roomId: b, ...camera })
  expect(await failures('rooms.restore', { undo: again })).toEqual([
    `The camera gate was added again to the room ${b}: remove it there first.`,
  ])
  await call('devices.remove', { userIds: ['gate'] })
  const key = await site.key()
  await call('licence.set', { max_rooms: 1 })
  expect(await failures('rooms.restore', { undo: again })).toEqual(['The licence of this site allows no more rooms.'])
  await call('licence.set', { max_rooms: 0 })

  // On time, by a clock that the machine's sleep does not stop; off, nothing is kept.
  pass(7 * day - 60_000)
  expect((await call('trash.list', {})).all).toBe(2)
  pass(60_001)
  expect((await call('trash.list', {})).all).toBe(0)
  expect(await failures('rooms.restore', { undo: again })).toEqual(['This is no longer in the trash.'])
  await call('settings.set', { trash: { days: 0 } })
  expect(await call('rooms.delete', { room_ids: [b] })).toMatchObject({ done: 1, undo: '' })
  expect(await site.result(key, 'settings.set', { trash: { days: 91 } })).toMatchObject({ error: { code: 'invalid' } })
})

test('A backup contains the trash', async () => {
  const { call, kept } = await openSite()
  const { room_id } = await call('rooms.create', { topic: 'Kept', host_password: 'secret' })
  const { undo } = await call('rooms.delete', { room_ids: [room_id] })
  const { name } = await call('backups.make', {})
  await call('trash.empty', {})
  expect(await kept()).toEqual([])
  await call('backups.restore', { name })
  expect(await kept()).toEqual([`rooms ${room_id}`])
  expect(await call('rooms.restore', { undo })).toMatchObject({ restored: [room_id] })
  expect(await call('rooms.reveal_password', { room_id })).toEqual({ host_password: 'secret' })
})

test('A restored room is counted and listed as before, also under its number, and a second deletion removes it from the list', async () => {
  const { call } = await openSite()
  const { room_id } = await call('rooms.create', { topic: 'Regretted' })
  await call('rooms.create', { topic: 'Other' })
  const listed = async () => {
    const [every, named] = [await call('rooms.list', {}), await call('rooms.list', { room_ids: [room_id] })]
    return [every.total, every.items.map(({ topic }) => topic), named.total]
  }
  const before = await listed()
  expect(before).toEqual([2, ['Other', 'Regretted'], 1])
  for (let round = 0; round < 2; round++) {
    const { undo } = await call('rooms.delete', { room_ids: [room_id] })
    expect(await listed()).toEqual([1, ['Other'], 0])
    await call('rooms.restore', { undo })
    expect(await listed()).toEqual(before)
  }
})
