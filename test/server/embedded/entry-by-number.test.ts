import { describe, expect, test } from 'vitest'
import type { ProcedureInput } from '../../../shared/console/contract.ts'
import { type RefusedError, SignalClient } from '../../support/media/signal-client.ts'
import { MediaSite } from '../../support/sites/media-site.ts'
import { shared } from '../../support/fixtures.ts'

type How = Parameters<typeof SignalClient.join>[2]

/** Rooms that can be joined by number, if the site or the room allows it. */
describe('a room that can be joined by its number', () => {
  const site = shared(() => MediaSite.start())

  const make = async (input: Partial<ProcedureInput<'rooms.create'>> = {}, at = site()) =>
    (await at.rpc('rooms.create', { topic: 'Lobby', ...input })).room_id

  /** Tries to join: `in`, or the reason of the refusal. Leaves again. */
  async function enters(roomId: string, how: How = {}, at = site()): Promise<string> {
    const client = await SignalClient.join(at.nodeUrl, roomId, how).catch((error: unknown) => error as RefusedError)
    if (!(client instanceof SignalClient)) return `${client.code} ${client.reason}`
    client.send({ type: 'leave' })
    await client.closed
    return 'in'
  }
  const look = async (roomId: string): Promise<unknown> =>
    await (await fetch(`${site().nodeUrl}/entry/${encodeURIComponent(roomId)}`)).json()
  const nothing = { by_number: false, host_password: false, topic: '' }

  test('needs the operator’s permission, for the site or for one room; the room’s own setting takes precedence', async () => {
    // Clients of the API do not set it.
    const plain = await site().api.createRoom({ topic: 'Lobby' })
    const open = await make({ entry_by_number: 'on', host_password: 'open sesame' })
    const shut = await make({ entry_by_number: 'off' })
    const every = async (): Promise<string[]> => [await enters(plain), await enters(open), await enters(shut)]
    expect(await every()).toEqual(['401 unauthorised', 'in', '401 unauthorised'])
    expect([await look(plain), await look(open), await look(shut)]).toEqual([
      nothing,
      { by_number: true, host_password: true, topic: 'Lobby' },
      nothing,
    ])
    await site().rpc('settings.set', { media: { open_rooms: true } })
    expect(await every()).toEqual(['in', 'in', '401 unauthorised'])
    expect(await look(plain)).toEqual({ by_number: true, host_password: false, topic: 'Lobby' })
    expect((await site().rpc('rooms.get', { room_id: plain })).room).toMatchObject({
      entry_by_number: 'inherit',
      open_to_number: true,
    })
    await site().rpc('settings.set', { media: { open_rooms: false } })

    // The operator changes only this setting.
    const changed = await site().rpc('rooms.update', { room_id: plain, entry_by_number: 'on' })
    expect(changed).toMatchObject({ topic: 'Lobby', entry_by_number: 'on', open_to_number: true })
    expect(await enters(plain)).toBe('in')
    await site().rpc('rooms.update', { room_id: plain, topic: 'Lobby 2' })
    expect(await enters(plain)).toBe('in')
    await site().rpc('rooms.update', { room_id: plain, entry_by_number: 'inherit' })
    expect(await enters(plain)).toBe('401 unauthorised')
  })

  test('shows the operator who joined by number, and adds nothing to the API', async () => {
    const roomId = await make({ entry_by_number: 'on' })
    const ann = await SignalClient.join(site().nodeUrl, roomId, { user_name: 'Ann', browser: 'the browser of Ann' })
    const link = await site().rpc('media.join_link', { room_id: roomId, user_id: 'bob', user_name: 'Bob' })
    const bob = await SignalClient.join(site().nodeUrl, roomId, {
      token: new URL(link.url).hash.replace('#token=', ''),
    })
    await site().until(async () => (await site().rpc('rooms.get', { room_id: roomId })).users.length === 2)
    expect((await site().rpc('rooms.get', { room_id: roomId })).users).toMatchObject([
      { user_name: 'Ann', by_number: true },
      { user_name: 'Bob', by_number: false },
    ])
    expect(await site().api.get('/rtc/room/get_room_info', { room_id: roomId })).toEqual({
      ret: 0,
      user_list: [
        { user_id: ann.joined.you.user_id, user_name: 'Ann' },
        { user_id: 'bob', user_name: 'Bob' },
      ],
    })
    const room = await site().api.get('/rtc/room/get', { room_id: roomId })
    expect(Object.keys(room)).not.toContain('entry_by_number')
    // Clients of the API cannot change it.
    await site().api.get('/rtc/room/update', { room_id: roomId, entry_by_number: 'off' })
    expect((await site().rpc('rooms.get', { room_id: roomId })).room.entry_by_number).toBe('on')
    for (const person of [ann, bob]) person.drop()
    const { items } = await site().rpc('activity.list', { operation: 'enter_room', room: roomId })
    expect(items).toMatchObject([{ ret: 0, client: '127.0.0.1' }])
  })

  test('admits nobody while it is locked or closed; a closed one looks like an unknown room', async () => {
    const roomId = await make({ entry_by_number: 'on' })
    await site().rpc('rooms.lock', { room_ids: [roomId] })
    expect(await enters(roomId)).toBe('403 locked')
    expect(await look(roomId)).toEqual({ by_number: true, host_password: false, topic: 'Lobby' })
    expect((await site().rpc('rooms.get', { room_id: roomId })).room.node).toBe('')
    await site().rpc('rooms.unlock', { room_ids: [roomId] })
    const person = await SignalClient.join(site().nodeUrl, roomId)
    await site().rpc('rooms.lock', { room_ids: [roomId] })
    expect(await enters(roomId)).toBe('403 locked')
    await site().rpc('rooms.close', { room_ids: [roomId] })
    expect(await person.next('removed')).toEqual({ type: 'removed', reason: 'closed' })
    expect(await enters(roomId)).toBe('401 unauthorised')
    expect(await look(roomId)).toEqual(nothing)
  })

  test('respects its limits and the licence', async () => {
    const roomId = await make({ entry_by_number: 'on', attendee_max: 1 })
    const first = await SignalClient.join(site().nodeUrl, roomId)
    expect(await enters(roomId)).toBe('507 roomFull')
    const other = await make({ entry_by_number: 'on' })
    await site().until(async () => (await site().rpc('rooms.get', { room_id: roomId })).users.length === 1)
    await site().rpc('licence.set', { expires_at: '', max_rooms: 0, max_users: 1 })
    expect(await enters(other)).toBe('503 busy')
    await site().rpc('licence.set', { expires_at: '2020-01-01', max_rooms: 0, max_users: 0 })
    expect(await enters(other)).toBe('503 busy')
    // A room closed to numbers has the same answer whatever the licence.
    expect(await enters('123456789')).toBe('401 unauthorised')
    await site().rpc('licence.set', { expires_at: '', max_rooms: 0, max_users: 0 })
    first.drop()
  })

  test('looks the same as any other room to a stranger: every answer is identical', async () => {
    const rooms = [await make(), await make({ entry_by_number: 'off', host_password: 'x' }), '987654321']
    // One of them is open on the node: somebody joined by a link.
    const link = await site().rpc('media.join_link', { room_id: rooms[0] ?? '' })
    const inside = await SignalClient.join(site().nodeUrl, rooms[0] ?? '', {
      token: new URL(link.url).hash.replace('#token=', ''),
    })
    const closed = await make({ entry_by_number: 'on' })
    await site().rpc('rooms.close', { room_ids: [closed] })
    const answers = new Set<string>()
    for (const roomId of [...rooms, closed]) {
      const refused = await SignalClient.join(site().nodeUrl, roomId).catch((error: unknown) => String(error))
      answers.add(JSON.stringify([await look(roomId), refused]).replaceAll(roomId, 'N'))
    }
    expect([...answers]).toEqual([expect.stringContaining('401 unauthorised')])
    inside.drop()

    // The operator sees the attempts of strangers, and the state of each room.
    for (const operation of ['look_at_room', 'enter_room']) {
      const { items } = await site().rpc('activity.list', { operation, outcome: 401, limit: 4 })
      expect(items.map(({ reason }) => reason)).toEqual([
        'the room is closed',
        'there is no such room',
        'the number of this room does not open it',
        'the number of this room does not open it',
      ])
    }
  })

  test('keeps out the browser of a removed user, even after a restart of the whole site', async () => {
    await using before = await MediaSite.start()
    const roomId = await make({ entry_by_number: 'on' }, before)
    const browser = 'the browser of Eve'
    const eve = await SignalClient.join(before.nodeUrl, roomId, { user_name: 'Eve', browser })
    await before.until(async () => (await before.users(roomId)).length === 1)
    await before.rpc('rooms.kick', { room_id: roomId, user_id: eve.joined.you.user_id })
    await eve.closed
    expect(await enters(roomId, { user_name: 'Not Eve', browser }, before)).toBe('403 removed')
    await before.stop()
    await using after = await MediaSite.start({ folder: before.folder })
    expect(await enters(roomId, { user_name: 'Not Eve', browser }, after)).toBe('403 removed')
    expect(await enters(roomId, { user_name: 'Dan', browser: 'the browser of Dan' }, after)).toBe('in')
    expect((await after.rpc('rooms.get', { room_id: roomId })).room.entry_by_number).toBe('on')
  })
})
