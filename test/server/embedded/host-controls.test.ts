import { afterAll, beforeAll, expect, test } from 'vitest'
import { startCamera } from '../../support/camera/camera.ts'
import { SignalClient } from '../../support/media/signal-client.ts'
import { MediaSite } from '../../support/sites/media-site.ts'

let site: MediaSite
beforeAll(async () => {
  site = await MediaSite.start()
})
afterAll(async () => await site[Symbol.asyncDispose]())

const tokenOf = (url: string): string => new URL(url).hash.replace('#token=', '')

async function enter(roomId: string, userId: string, role: 'member' | 'host' = 'member'): Promise<SignalClient> {
  const { url } = await site.rpc('media.join_link', { room_id: roomId, user_id: userId, user_name: userId, role })
  return await SignalClient.join(site.nodeUrl, roomId, { token: tokenOf(url) })
}
const status = async (roomId: string): Promise<string> => (await site.rpc('rooms.get', { room_id: roomId })).room.status

test('a host locks the room: operator and API show it, and the log names the host', async () => {
  const { room_id } = await site.rpc('rooms.create', { topic: 'Board' })
  const ann = await enter(room_id, 'Ann', 'host')
  ann.send({ type: 'lock', locked: true })
  expect(await ann.next('room_changed')).toMatchObject({ topic: 'Board', locked: true })
  expect(await status(room_id)).toBe('locked')
  await expect(enter(room_id, 'Bo')).rejects.toThrow('403 locked')
  ann.forget()
  ann.send({ type: 'lock', locked: false })
  expect(await ann.next('room_changed')).toMatchObject({ locked: false })
  expect(await status(room_id)).toBe('open')
  const bo = await enter(room_id, 'Bo')
  ann.send({ type: 'remove', user_id: 'Bo' })
  await bo.closed
  ann.send({ type: 'end_meeting' })
  expect(await ann.next('removed')).toEqual({ type: 'removed', reason: 'ended' })
  // The room is unchanged otherwise: a host cannot delete it.
  await expect.poll(() => status(room_id)).toBe('scheduled')
  const { items } = await site.rpc('events.list', { subject: { type: 'room', id: room_id } })
  const told = items.filter(({ actor }) => actor.type === 'host')
  expect(told.map(({ kind, actor, subject }) => [kind, actor.name, subject.name])).toEqual([
    ['room.meetingEnded', 'Ann', 'Board'],
    ['person.removed', 'Ann', 'Bo'],
    ['room.unlocked', 'Ann', 'Board'],
    ['room.locked', 'Ann', 'Board'],
  ])
})

test('only the operator sets up a waiting room; clients of the API cannot see or change it', async () => {
  const { room_id, waiting_room } = await site.rpc('rooms.create', { topic: 'Interview', waiting_room: true })
  expect(waiting_room).toBe(true)
  await site.api.get('/rtc/room/update', { room_id, waiting_room: 'false', topic: 'Second interview' })
  expect((await site.rpc('rooms.get', { room_id })).room).toMatchObject({
    waiting_room: true,
    topic: 'Second interview',
  })
  expect(Object.keys(await site.api.get('/rtc/room/get', { room_id }))).not.toContain('waiting_room')
  const { url } = await site.rpc('media.join_link', { room_id, user_id: 'bo', user_name: 'Bo' })
  const bo = new SignalClient(site.nodeUrl)
  await bo.ask(room_id, { token: tokenOf(url) })
  expect(await bo.next('waiting')).toEqual({ type: 'waiting', topic: 'Second interview' })
  const ann = await enter(room_id, 'Ann', 'host')
  ann.send({ type: 'let_in', user_id: 'bo' })
  await bo.next('joined')
  await site.rpc('rooms.update', { room_id, waiting_room: false })
  expect((await enter(room_id, 'Cy')).joined.people).toHaveLength(3)
})

test('a link shows the topic of its room before joining; without a link, or with another one, nothing is shown', async () => {
  const { room_id } = await site.rpc('rooms.create', { topic: 'Quarterly figures' })
  const other = await site.rpc('rooms.create', { topic: 'Another' })
  const look = async (url: string): Promise<unknown> => {
    const headers = { authorization: `Bearer ${tokenOf(url)}` }
    return await (await fetch(`${site.nodeUrl}/entry/${room_id}`, { headers })).json()
  }
  const nothing = { by_number: false, host_password: false, topic: '' }
  const { url } = await site.rpc('media.join_link', { room_id })
  expect(await look(url)).toEqual({ ...nothing, topic: 'Quarterly figures' })
  expect(await look(`${url}x`)).toEqual(nothing)
  expect(await look((await site.rpc('media.join_link', { room_id: other.room_id })).url)).toEqual(nothing)
  expect(await (await fetch(`${site.nodeUrl}/entry/${room_id}`)).json()).toEqual(nothing)
})

test('a lost camera that moves to another room is no longer expected in the old one', async () => {
  const [here, there] = [
    await site.rpc('rooms.create', { topic: 'Here' }),
    await site.rpc('rooms.create', { topic: 'There' }),
  ]
  const camera = await startCamera()
  expect(await site.join(here.room_id, 'gate', camera.url('/cam'))).toMatchObject({ ret: 0 })
  const ann = await enter(here.room_id, 'Ann')
  await camera.kill()
  expect(await ann.next('person_left')).toEqual({ type: 'person_left', user_id: 'gate', lost: true })
  ann.forget()
  await site.rpc('devices.update', { userId: 'gate', roomId: there.room_id })
  expect(await ann.next('person_left')).toEqual({ type: 'person_left', user_id: 'gate' })
  ann.drop()
})
