import { expect, onTestFinished, test } from 'vitest'
import { PostgresServer } from '../../support/postgres/postgres-server.ts'
import type { ControllerSite } from '../../support/sites/controller-site.ts'
import { controllerSite, password } from '../../support/sites/controller-site.ts'

const room = async (site: ControllerSite, topic: string, tags?: string[]): Promise<string> =>
  (await site.call(await site.key(), 'rooms.create', { topic, ...(tags ? { tags } : {}) })).room_id
const camera = async (site: ControllerSite, roomId: string, userId: string, tags?: string[]): Promise<void> => {
  const device = { roomId, userId, userName: userId, userAddress: `rtsp://10.0.0.9/${userId}` }
  await site.call(await site.key(), 'devices.create', { ...device, ...(tags ? { tags } : {}) })
}

test('an operator tags rooms; a tag is the same in any case and form, is counted, and filters the list', async () => {
  const site = await controllerSite()
  const key = await site.key()
  const board = await room(site, 'Board', ['  Café   3 ', 'North'])
  const yard = await room(site, 'Yard')
  const plain = await room(site, 'Plain')
  // The decomposed form of another case is the same tag, and is shown as first written.
  const tagged = await site.call(key, 'rooms.set_tags', { room_id: yard, tags: ['CAFE\u0301 3', 'café 3', 'outdoor'] })
  expect(tagged.tags).toEqual(['Café 3', 'outdoor'])
  expect(await site.call(key, 'rooms.tags', undefined)).toEqual([
    { tag: 'Café 3', count: 2 },
    { tag: 'North', count: 1 },
    { tag: 'outdoor', count: 1 },
  ])
  const listed = async (tags: string[]): Promise<string[]> =>
    (await site.call(key, 'rooms.list', { tags, sort: 'topic', descending: false })).items.map(({ topic }) => topic)
  expect(await listed(['café 3'])).toEqual(['Board', 'Yard'])
  expect(await listed(['CAFÉ 3', 'north'])).toEqual(['Board'])
  expect(await listed(['north', 'outdoor'])).toEqual([])
  expect(await listed(['unknown'])).toEqual([])
  expect(await listed([])).toEqual(['Board', 'Plain', 'Yard'])
  expect((await site.call(key, 'rooms.list', { tags: ['café 3'], room_ids: [yard, plain] })).total).toBe(1)
  // A closed room is tagged, too; the only record with a tag may spell it anew.
  await site.call(key, 'rooms.close', { room_ids: [board] })
  await site.call(key, 'rooms.set_tags', { room_id: board, tags: ['NORTH'] })
  expect(await site.call(key, 'rooms.tags', undefined)).toEqual([
    { tag: 'Café 3', count: 1 },
    { tag: 'NORTH', count: 1 },
    { tag: 'outdoor', count: 1 },
  ])
  await site.call(key, 'rooms.set_tags', { room_id: board, tags: [] })
  expect((await site.call(key, 'rooms.get', { room_id: board })).room.tags).toEqual([])
  expect(await listed(['north'])).toEqual([])
})

test('a tag that is empty, too long, or holds a comma or a hidden character is refused, and so are too many', async () => {
  const site = await controllerSite()
  const key = await site.key()
  const room_id = await room(site, 'Board')
  const refusal = async (tags: string[]): Promise<unknown> => {
    const result = await site.result(key, 'rooms.set_tags', { room_id, tags })
    return result.ok ? 'ok' : (result.error.problems?.[0]?.name ?? result.error.name)
  }
  expect(await refusal(['x'.repeat(40)])).toBe('ok')
  expect(await refusal(['会'.repeat(40)])).toBe('ok')
  expect(await refusal(['👩‍👩‍👧'])).toBe('ok')
  for (const tag of ['', '   ', '\u200b', 'x'.repeat(41)])
    expect([tag, await refusal([tag])]).toEqual([tag, 'characters'])
  for (const tag of ['a\u202eb', 'a\u0007b', 'a\nb', 'a\ud800'])
    expect([tag, await refusal([tag])]).toEqual([tag, 'unsafe'])
  for (const tag of ['a,b', '一，二']) expect([tag, await refusal([tag])]).toEqual([tag, 'comma'])
  const many = Array.from({ length: 20 }, (_, n) => `tag ${n}`)
  expect(await refusal([...many, 'one more'])).toBe('fewer')
  expect(await refusal(many)).toBe('ok')
  const more = await site.call(key, 'rooms.change_tags', { changes: [{ room_ids: [room_id], add: ['one more'] }] })
  expect(more).toMatchObject({ done: 0, failed: [{ key: room_id, name: 'tagsOfRecord' }], undo: [] })
  // One out, one in: it still has as many as it may.
  const swap = { room_ids: [room_id], add: ['one more'], remove: ['TAG 3'] }
  expect(await site.call(key, 'rooms.change_tags', { changes: [swap] })).toMatchObject({ done: 1, failed: [] })
})

test('a site holds a thousand different tags; existing ones can still be used', { timeout: 60_000 }, async () => {
  const site = await controllerSite()
  const key = await site.key()
  for (let first = 0; first < 1_000; first += 20)
    await room(
      site,
      `Room ${first}`,
      Array.from({ length: 20 }, (_, n) => `tag ${first + n}`),
    )
  expect(await site.call(key, 'rooms.tags', undefined)).toHaveLength(1_000)
  expect(await site.result(key, 'rooms.create', { topic: 'Late', tags: ['another'] })).toMatchObject({
    error: { name: 'tagLimit' },
  })
  const late = await room(site, 'Late', ['TAG 77'])
  expect((await site.call(key, 'rooms.get', { room_id: late })).room.tags).toEqual(['tag 77'])
})

test('tags of many rooms and cameras change together, and an undo puts each back as it was', async () => {
  const site = await controllerSite()
  const key = await site.key()
  const [board, yard] = [await room(site, 'Board', ['East', 'Old']), await room(site, 'Yard', ['Old'])]
  const hall = await room(site, 'Hall')
  const tagsOf = async (): Promise<string[][]> =>
    (await site.call(key, 'rooms.list', { descending: false })).items.map(({ tags }) => tags)
  const before = await tagsOf()
  const changed = await site.call(key, 'rooms.change_tags', {
    changes: [{ room_ids: [board, yard, hall, 'gone'], add: ['east', 'New'], remove: ['OLD'] }],
  })
  expect(changed).toMatchObject({ done: 3, failed: [{ key: 'gone', name: 'roomNotFound' }] })
  expect(await tagsOf()).toEqual([
    ['East', 'New'],
    ['East', 'New'],
    ['East', 'New'],
  ])
  expect(await site.call(key, 'rooms.change_tags', { changes: changed.undo })).toMatchObject({ done: 3, failed: [] })
  expect(await tagsOf()).toEqual(before)

  for (const userId of ['cam-1', 'cam-2']) await camera(site, hall, userId)
  const cameras = { userIds: ['cam-1', 'cam-2'], add: ['EAST', 'Gate'] }
  const tagged = await site.call(key, 'devices.change_tags', { changes: [cameras] })
  expect(tagged.undo).toEqual([{ userIds: ['cam-1', 'cam-2'], add: [], remove: ['East', 'Gate'] }])
  expect(await site.call(key, 'devices.set_tags', { userId: 'cam-2', tags: ['gate'] })).toMatchObject({
    tags: ['Gate'],
  })
  expect(await site.call(key, 'devices.tags', undefined)).toEqual([
    { tag: 'East', count: 1 },
    { tag: 'Gate', count: 2 },
  ])
  const found = await site.call(key, 'devices.list', { tags: ['gate', 'east'] })
  expect(found.map(({ userId }) => userId)).toEqual(['cam-1'])
})

test('tags survive a restart, the trash and a backup, and are part of a template', async () => {
  const site = await controllerSite()
  const key = await site.key()
  const board = await room(site, 'Board', ['North'])
  await camera(site, board, 'cam-1', ['Gate'])
  const backup = await site.call(key, 'backups.make', {})
  const known = async (): Promise<string[]> =>
    [...(await site.call(key, 'rooms.tags', undefined)), ...(await site.call(key, 'devices.tags', undefined))].map(
      ({ tag, count }) => `${tag} ${count}`,
    )
  expect(await known()).toEqual(['North 1', 'Gate 1'])
  const { undo } = await site.call(key, 'rooms.delete', { room_ids: [board] })
  expect(await known()).toEqual([])
  await site.call(key, 'rooms.restore', { undo })
  expect(await known()).toEqual(['North 1', 'Gate 1'])
  await site.call(key, 'rooms.set_tags', { room_id: board, tags: ['South'] })
  await site.restart()
  expect(await known()).toEqual(['South 1', 'Gate 1'])
  await site.call(key, 'backups.restore', { name: backup.name })
  expect(await known()).toEqual(['North 1', 'Gate 1'])

  const { settings } = await site.call(key, 'templates.save', { name: 'Talk', settings: { tags: ['north', 'Talk'] } })
  const { tags } = await site.call(key, 'rooms.create', { topic: 'Talk', tags: settings.tags ?? [] })
  expect(tags).toEqual(['North', 'Talk'])
})

test('the table of cameras contains their tags; a table without the column leaves them unchanged', async () => {
  const site = await controllerSite()
  const key = await site.key()
  const board = await room(site, 'Board')
  await camera(site, board, 'cam-1', ['Gate', '门口'])
  const { text } = await site.call(key, 'devices.export', undefined)
  const [header, line] = text.trim().split('\r\n')
  expect([header?.endsWith(',tags'), line?.endsWith('"Gate, 门口"')]).toEqual([true, true])
  const rows = (tags: string): string =>
    `roomId,userId,userName,userAddress,tags\n${board},cam-1,cam-1,rtsp://10.0.0.9/cam-1,${tags}\n${board},cam-2,cam-2,rtsp://10.0.0.9/cam-2,"gate，Yard, gate"\n`
  expect((await site.call(key, 'devices.import', { text: rows('"gate, Tower"') })).map(({ action }) => action)).toEqual(
    ['update', 'create'],
  )
  const tagsOf = async (): Promise<string[][]> =>
    (await site.call(key, 'devices.list', undefined)).map(({ tags }) => tags)
  expect(await tagsOf()).toEqual([
    ['Gate', 'Tower'],
    ['Gate', 'Yard'],
  ])
  const untagged = `roomId,userId,userName,userAddress\n${board},cam-1,Tower,rtsp://10.0.0.9/cam-1\n`
  await site.call(key, 'devices.import', { text: untagged })
  await site.call(key, 'devices.update', { userId: 'cam-2', userName: 'Yard' })
  expect(await tagsOf()).toEqual([
    ['Gate', 'Tower'],
    ['Gate', 'Yard'],
  ])
  const long = await site.call(key, 'devices.import_preview', { text: rows('x'.repeat(41)) })
  expect(long[0]).toMatchObject({ action: 'error', problem: { name: 'characters' } })
})

test('the search finds tags, and rooms and cameras by them; the event log records each change', async () => {
  const site = await controllerSite()
  const key = await site.key()
  const board = await room(site, 'Board', ['Zürich West'])
  await camera(site, board, 'cam-1', ['zürich west', 'Gate'])
  const find = async (text: string, who = key) => await site.call(who, 'search.find', { text })
  expect(await find('zurich')).toMatchObject({
    tags: { items: [{ tag: 'Zürich West', rooms: 1, cameras: 1 }], more: false },
    rooms: { items: [{ room_id: board, tags: ['Zürich West'] }] },
    cameras: { items: [{ user_id: 'cam-1', tags: ['Gate', 'Zürich West'] }] },
  })
  await site.call(key, 'rooms.set_tags', { room_id: board, tags: ['Lobby'] })
  expect((await find('zurich')).tags.items).toEqual([{ tag: 'Zürich West', rooms: 0, cameras: 1 }])
  expect((await find('lobby')).rooms.items).toHaveLength(1)
  expect((await site.call(key, 'rooms.list', { search: 'lobb' })).total).toBe(1)

  const changes = async (): Promise<unknown[]> =>
    (await site.call(key, 'events.list', { subject: { type: 'room', id: board } })).items.map(
      ({ params, before, after }) => [params.procedure, before, after],
    )
  await site.call(key, 'rooms.change_tags', { changes: [{ room_ids: [board], add: ['Lift'], remove: [] }] })
  await expect.poll(changes).toEqual(
    expect.arrayContaining([
      ['rooms.set_tags', { tags: 'Zürich West' }, { tags: 'Lobby' }],
      ['rooms.change_tags', { tags: 'Lobby' }, { tags: 'Lift, Lobby' }],
    ]),
  )

  const { id } = await site.create('vera', 'viewer')
  const vera = await site.signIn('vera', password)
  expect(await site.call(vera, 'rooms.tags', undefined)).toHaveLength(2)
  expect((await find('gate', vera)).tags.items).toEqual([{ tag: 'Gate', rooms: 0, cameras: 1 }])
  for (const result of [
    await site.result(vera, 'rooms.set_tags', { room_id: board, tags: [] }),
    await site.result(vera, 'rooms.change_tags', { changes: [{ room_ids: [board], remove: ['Lift'] }] }),
    await site.result(vera, 'devices.set_tags', { userId: 'cam-1', tags: [] }),
    await site.result(vera, 'devices.change_tags', { changes: [{ userIds: ['cam-1'], add: ['x'] }] }),
  ])
    expect(result.status).toBe(403)
  // A token without access to rooms sees no tag of one.
  const { token } = await site.call(key, 'accounts.create_token', { id, label: 'Cameras', scopes: ['devices:read'] })
  expect((await find('l', token)).tags.items).toEqual([])
  expect((await find('zurich', token)).tags.items).toEqual([{ tag: 'Zürich West', rooms: 0, cameras: 1 }])
  expect((await site.result(token, 'rooms.tags', undefined)).status).toBe(403)
})

test('a site in PostgreSQL keeps tags in the same way', { timeout: 60_000 }, async () => {
  const server = await PostgresServer.start()
  onTestFinished(() => server.remove())
  const database = server.address(await server.newSchema())
  const site = await controllerSite(undefined, { database })
  const key = await site.key()
  const board = await room(site, 'Board', ['North'])
  await camera(site, board, 'cam-1', ['Gate'])
  await site.call(key, 'rooms.change_tags', { changes: [{ room_ids: [board], add: ['北京'] }] })
  await site.restart(undefined, { database })
  expect((await site.call(key, 'rooms.list', { tags: ['north', '北京'] })).items).toMatchObject([
    { room_id: board, tags: ['North', '北京'] },
  ])
  expect(await site.call(key, 'devices.tags', undefined)).toEqual([{ tag: 'Gate', count: 1 }])
})

test('rooms are counted by tag, all or those that match, and each group is read page by page', async () => {
  const site = await controllerSite()
  const key = await site.key()
  const board = await room(site, 'Board', ['North', 'Café 3'])
  await room(site, 'Yard', ['north'])
  await room(site, 'Hall')
  await room(site, 'Yard gate')
  const north = { tag: 'North', count: 2 }
  const coffee = { tag: 'Café 3', count: 1 }
  expect(await site.call(key, 'rooms.groups', {})).toEqual({ total: 4, all: 4, groups: [coffee, north], untagged: 2 })
  const matching = await site.call(key, 'rooms.groups', { search: 'yard' })
  expect(matching).toEqual({ total: 2, all: 4, groups: [{ tag: 'North', count: 1 }], untagged: 1 })
  // A filter by a tag shows with which others it stands.
  const filtered = await site.call(key, 'rooms.groups', { tags: ['NORTH'] })
  expect(filtered).toEqual({ total: 2, all: 4, groups: [coffee, north], untagged: 0 })
  const listed = async (query: object): Promise<unknown> => {
    const { total, items } = await site.call(key, 'rooms.list', { sort: 'topic', descending: false, ...query })
    return [total, ...items.map(({ topic }) => topic)]
  }
  expect(await listed({ tags: ['north'], offset: 1, limit: 1 })).toEqual([2, 'Yard'])
  expect(await listed({ untagged: true })).toEqual([2, 'Hall', 'Yard gate'])
  expect(await listed({ untagged: true, search: 'yard' })).toEqual([1, 'Yard gate'])
  expect(await listed({ untagged: true, tags: ['north'] })).toEqual([0])
  // The counts follow changes and deletions.
  await site.call(key, 'rooms.set_tags', { room_id: board, tags: [] })
  expect(await site.call(key, 'rooms.groups', {})).toMatchObject({ groups: [{ tag: 'North', count: 1 }], untagged: 3 })
  await site.call(key, 'rooms.delete', { room_ids: [board] })
  expect(await site.call(key, 'rooms.groups', {})).toMatchObject({ total: 3, untagged: 2 })
})
