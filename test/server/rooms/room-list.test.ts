import { expect, onTestFinished, test } from 'vitest'
import type { RoomQuery } from '../../../server/rooms/room-list.ts'
import { camera, liveSite } from '../../support/sites/live-site.ts'

const everything: RoomQuery = { search: '', status: [], sort: 'id', descending: true, offset: 0, limit: 100 }

test('rooms are listed newest first, filtered, sorted and by pages', async () => {
  const { client, rooms, roomViews, join } = await liveSite()
  for (const [n, topic] of ['Bravo', 'alpha', 'Charlie', '晨会'].entries()) {
    await client.createRoom({ topic, room_extend_id: `r${n}`, owner_id: n < 2 ? 'Ann' : 'bob' })
  }
  await join('r1', 'x')
  await join('r1', 'y')
  await join('r2', 'z')
  await rooms.lock('r2')
  await rooms.close('r3')
  const list = (query: Partial<RoomQuery>) => {
    const { total, all, items } = roomViews.list({ ...everything, ...query })
    expect(all).toBe(4)
    return [total, ...items.map(({ room_id }) => room_id)]
  }
  expect(list({})).toEqual([4, 'r3', 'r2', 'r1', 'r0'])
  expect(list({ descending: false })).toEqual([4, 'r0', 'r1', 'r2', 'r3'])
  expect(list({ offset: 1, limit: 2 })).toEqual([4, 'r2', 'r1'])
  expect(list({ limit: 0 })).toEqual([4])
  expect(list({ search: 'ANN' })).toEqual([2, 'r1', 'r0'])
  expect(list({ search: '会' })).toEqual([1, 'r3'])
  expect(list({ search: 'R2' })).toEqual([1, 'r2'])
  expect(list({ status: ['open'] })).toEqual([1, 'r1'])
  expect(list({ status: ['scheduled', 'closed', 'locked'] })).toEqual([3, 'r3', 'r2', 'r0'])
  expect(list({ node: 'main' })).toEqual([2, 'r2', 'r1'])
  expect(list({ node: '' })).toEqual([2, 'r3', 'r0'])
  expect(list({ room_ids: ['r0', 'gone', 'r2', 'r0'] })).toEqual([2, 'r2', 'r0'])
  expect(list({ room_ids: ['r0', 'r2'], search: 'ann', sort: 'topic' })).toEqual([1, 'r0'])
  expect(list({ room_ids: [] })).toEqual([0])
  expect(list({ sort: 'topic', descending: false })).toEqual([4, 'r1', 'r0', 'r2', 'r3'])
  expect(list({ sort: 'users' })).toEqual([4, 'r1', 'r2', 'r3', 'r0'])
  expect(list({ sort: 'room_id', descending: false, offset: 3 })).toEqual([4, 'r3'])
  await rooms.delete('r2')
  await client.createRoom({ room_extend_id: 'r2', topic: 'again' })
  expect(list({})).toEqual([4, 'r2', 'r3', 'r1', 'r0'])
})

test('a room is shown with its users, devices and address, and without secrets', async () => {
  const { client, roomViews, join, rooms } = await liveSite()
  const roomId = await client.createRoom({ host_password: 'open-sesame' })
  await join(roomId, 'ann', 'open-sesame')
  await client.outgoing('createOutgoingUser', camera(roomId, 'cam-1'))
  const detail = roomViews.detail(roomId)
  expect(detail).toMatchObject({
    room: { room_id: roomId, status: 'open', users: 2, devices: 1, node: 'main', has_host_password: true },
    users: [
      { user_id: 'ann', device: false, role: 'host' },
      { user_id: 'cam-1', device: true, role: 'member' },
    ],
    addr: '127.0.0.1:7082',
  })
  expect(detail.room.created_by).toBe(client.accessKey)
  expect(JSON.stringify(detail)).not.toContain('open-sesame')
  expect(rooms.hostPassword(rooms.get(roomId))).toBe('open-sesame')
})

test('watchers are notified of every room that changes, gets users or is deleted', async () => {
  const { client, roomViews, join, people } = await liveSite()
  const roomId = await client.createRoom()
  const told: string[] = []
  onTestFinished(roomViews.onChange((changed) => told.push(changed)))
  const next = async (act: () => unknown) => {
    told.length = 0
    await act()
    return new Set(told)
  }
  expect(await next(() => join(roomId, 'ann'))).toEqual(new Set([roomId]))
  expect(await next(() => people.leave(roomId, 'ann'))).toEqual(new Set([roomId]))
  expect(await next(() => client.outgoing('createOutgoingUser', camera(roomId, 'c')))).toEqual(new Set([roomId]))
  expect(await next(() => client.get('/rtc/room/del', { room_id: roomId }))).toContain(roomId)
})
