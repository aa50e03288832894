import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { ProcedureInput, ProcedureName } from '../../../shared/console/contract.ts'
import { MediaSite } from '../../support/sites/media-site.ts'

let site: MediaSite

beforeAll(async () => {
  site = await MediaSite.start({ lab: { people: [{ name: 'file', people: 1, send: 'nothing', watch: 0 }] } })
})
afterAll(() => site[Symbol.asyncDispose]())

const run = async <N extends ProcedureName>(name: N, input: ProcedureInput<N>) => site.rpc(name, input)
const group = async (name: string) => (await run('lab.people', {})).find((one) => one.name === name)
const present = async (name: string, count: number): Promise<void> => {
  await vi.waitFor(async () => expect((await group(name))?.counts.present).toBe(count), 40_000)
}

test('a group of the site file arrives at the start', async () => {
  await present('file', 1)
  await run('lab.remove_people', { group: 'file' })
})

test('a group arrives in rooms of its own, with media, and is counted', async () => {
  const made = await run('lab.put_people', { name: 'lobby', people: 4, rooms: 2 })
  expect(made).toMatchObject({ runs: true, in_rooms: ['test-people-lobby-1', 'test-people-lobby-2'] })
  await present('lobby', 4)
  const { room, users } = await run('rooms.get', { room_id: 'test-people-lobby-1' })
  expect(room.people).toBe(2)
  expect(users.map(({ user_id }) => user_id).toSorted()).toEqual(['test-person-lobby-1', 'test-person-lobby-3'])
  await vi.waitFor(async () => expect((await group('lobby'))?.received).toBeGreaterThan(100), 40_000)
})

test('a removed person stays out of the room, and a muted one is no longer heard', async () => {
  await run('rooms.kick', { room_id: 'test-people-lobby-1', user_id: 'test-person-lobby-1' })
  await vi.waitFor(async () => expect((await group('lobby'))?.counts).toMatchObject({ present: 3, removed: 1 }), 20_000)
  const muted = { room_id: 'test-people-lobby-1', user_id: 'test-person-lobby-3' }
  await run('rooms.mute', muted)
  await vi.waitFor(async () => {
    const { connections } = await run('media.stats', { room_id: muted.room_id })
    expect(connections.find(({ user_id }) => user_id === muted.user_id)).toMatchObject({ audio: false, video: true })
  }, 20_000)
})

test('a changed group begins anew, in an existing room', async () => {
  const { room_id } = await run('rooms.create', { topic: 'Existing' })
  await run('lab.put_people', { name: 'lobby', people: 2, room_ids: [room_id], send: 'sound' })
  await present('lobby', 2)
  expect((await site.users(room_id)).toSorted()).toEqual(['test-person-lobby-1', 'test-person-lobby-2'])
  expect(await site.users('test-people-lobby-2')).toEqual([])
})

test('people are back after a restart of the controller, and gone after the removal of their group', async () => {
  await site.controller.stop(0)
  site = await MediaSite.start({ folder: site.folder })
  await present('lobby', 2)
  const [room = ''] = (await group('lobby'))?.in_rooms ?? []
  await run('lab.remove_people', { group: 'lobby' })
  expect(await run('lab.people', {})).toEqual([])
  await vi.waitFor(async () => expect(await site.users(room)).toEqual([]), 20_000)
  await expect(run('lab.remove_people', { group: 'lobby' })).rejects.toThrow('no longer exist')
})

test('wrong values and too many groups are refused', async () => {
  await expect(run('lab.put_people', { name: 'x', people: 0 })).rejects.toThrow()
  await expect(run('lab.put_people', { name: 'x', arrive: 'soon' })).rejects.toThrow('arrive')
  const idle = { people: 1, arrive: 'evenly=86400', send: 'nothing' } as const
  for (let number = 1; number <= 10; number++) await run('lab.put_people', { name: `idle-${number}`, ...idle })
  await expect(run('lab.put_people', { name: 'one-more', ...idle })).rejects.toThrow('10')
})
