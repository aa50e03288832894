import { expect, test } from 'vitest'
import { startTestCamera } from '../../support/camera/test-camera.ts'
import { SignalClient } from '../../support/media/signal-client.ts'
import { MediaSite } from '../../support/sites/media-site.ts'
import { shared } from '../../support/fixtures.ts'

const site = shared(() => MediaSite.start())

const tokenOf = (url: string): string => new URL(url).hash.replace('#token=', '')

async function enter(roomId: string, userId: string, role: 'member' | 'host' = 'member'): Promise<SignalClient> {
  const { url } = await site().rpc('media.join_link', { room_id: roomId, user_id: userId, user_name: userId, role })
  return await SignalClient.join(site().nodeUrl, roomId, { token: tokenOf(url) })
}
const status = async (roomId: string): Promise<string> =>
  (await site().rpc('rooms.get', { room_id: roomId })).room.status

test('a host locks the room: operator and API show it, and the log names the host', async () => {
  const { room_id } = await site().rpc('rooms.create', { topic: 'Board' })
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
  const { items } = await site().rpc('events.list', { subject: { type: 'room', id: room_id } })
  const told = items.filter(({ actor }) => actor.type === 'host')
  expect(told.map(({ kind, actor, subject }) => [kind, actor.name, subject.name])).toEqual([
    ['room.meetingEnded', 'Ann', 'Board'],
    ['person.removed', 'Ann', 'Bo'],
    ['room.unlocked', 'Ann', 'Board'],
    ['room.locked', 'Ann', 'Board'],
  ])
})

test('the operator mutes a person as a host does, who unmutes again; the log says so', async () => {
  const { room_id } = await site().rpc('rooms.create', { topic: 'Lecture' })
  const [ann, bo] = [await enter(room_id, 'Ann'), await enter(room_id, 'Bo')]
  bo.send({ type: 'state', audio: true, video: true })
  await ann.next((message) => message.type === 'person_changed' && message.person.audio)
  ann.forget()
  await site().rpc('rooms.mute', { room_id, user_id: 'Bo' })
  expect(await bo.next('muted')).toEqual({ type: 'muted', by: '', kind: 'audio' })
  expect(await ann.next('person_changed')).toMatchObject({ person: { user_id: 'Bo', audio: false, video: true } })
  bo.forget()
  await site().rpc('rooms.stop_camera', { room_id, user_id: 'Bo' })
  expect(await bo.next('muted')).toEqual({ type: 'muted', by: '', kind: 'video' })
  await ann.next((message) => message.type === 'person_changed' && !message.person.video)
  ann.forget()
  bo.send({ type: 'state', audio: true, video: false })
  expect(await ann.next('person_changed')).toMatchObject({ person: { user_id: 'Bo', audio: true, video: false } })
  const { items } = await site().rpc('events.list', { subject: { type: 'person', id: 'Bo' } })
  expect(items.map(({ params, room }) => [params.procedure, room]).filter(([name]) => name !== undefined)).toEqual([
    ['rooms.stop_camera', room_id],
    ['rooms.mute', room_id],
  ])
  // Cameras and people outside are no people in the room.
  await using camera = await startTestCamera()
  expect(await site().join(room_id, 'yard', camera.url)).toMatchObject({ ret: 0 })
  for (const user_id of ['yard', 'nobody'])
    await expect(site().rpc('rooms.mute', { room_id, user_id })).rejects.toThrow('not in this room')
})

test('a host invites: the link lets anybody in as a member, the log names the host; members and closed rooms get none', async () => {
  const { room_id } = await site().rpc('rooms.create', { topic: 'Jury' })
  const ann = await enter(room_id, 'Ann', 'host')
  const bo = await enter(room_id, 'Bo')
  bo.send({ type: 'invite' })
  expect(await bo.next('error')).toMatchObject({ reason: 'forbidden' })
  ann.send({ type: 'invite' })
  const { url } = await ann.next('invitation')
  expect(url).toContain('/j/')
  const page = (await fetch(url, { redirect: 'manual' })).headers.get('location') ?? ''
  const guest = await SignalClient.join(site().nodeUrl, room_id, { token: tokenOf(page), user_name: 'Guest' })
  expect(guest.joined.you).toMatchObject({ user_name: 'Guest', role: 'member' })
  const { items } = await site().rpc('events.list', { subject: { type: 'room', id: room_id } })
  expect(items.find(({ kind }) => kind === 'room.invited')?.actor).toMatchObject({ type: 'host', name: 'Ann' })
  expect(bo.messages.filter(({ type }) => type === 'invitation')).toEqual([])
})

test('only the operator sets up a waiting room; clients of the API cannot see or change it', async () => {
  const { room_id, waiting_room } = await site().rpc('rooms.create', { topic: 'Interview', waiting_room: true })
  expect(waiting_room).toBe(true)
  await site().api.get('/rtc/room/update', { room_id, waiting_room: 'false', topic: 'Second interview' })
  expect((await site().rpc('rooms.get', { room_id })).room).toMatchObject({
    waiting_room: true,
    topic: 'Second interview',
  })
  expect(Object.keys(await site().api.get('/rtc/room/get', { room_id }))).not.toContain('waiting_room')
  const { url } = await site().rpc('media.join_link', { room_id, user_id: 'bo', user_name: 'Bo' })
  const bo = new SignalClient(site().nodeUrl)
  await bo.ask(room_id, { token: tokenOf(url) })
  expect(await bo.next('waiting')).toEqual({ type: 'waiting', topic: 'Second interview', host_here: false })
  const ann = await enter(room_id, 'Ann', 'host')
  ann.send({ type: 'let_in', user_id: 'bo' })
  await bo.next('joined')
  await site().rpc('rooms.update', { room_id, waiting_room: false })
  expect((await enter(room_id, 'Cy')).joined.people).toHaveLength(3)
})

test('a link shows the topic, the people and the start of its room before joining; without a link, or with an invalid one, nothing is shown', async () => {
  const { room_id } = await site().rpc('rooms.create', { topic: 'Quarterly figures', waiting_room: true })
  const other = await site().rpc('rooms.create', { topic: 'Another' })
  const look = async (url: string, room = room_id): Promise<unknown> => {
    const headers = { authorization: `Bearer ${tokenOf(url)}` }
    return await (await fetch(`${site().nodeUrl}/entry/${room}`, { headers })).json()
  }
  const nothing = { by_number: false, host_password: false, topic: '' }
  const { url } = await site().rpc('media.join_link', { room_id })
  const asHost = (await site().rpc('media.join_link', { room_id, role: 'host' })).url
  const facts = { ...nothing, topic: 'Quarterly figures' }
  expect(await look(url)).toEqual({ ...facts, people: { count: 0 } })
  const ann = await enter(room_id, 'Ann', 'host')
  await expect.poll(() => look(asHost)).toEqual({ ...facts, people: { count: 1, names: ['Ann'] } })
  // A guest may be turned away by the waiting room, and everybody is by the lock.
  expect(await look(url)).toEqual({ ...facts, people: { count: 1 } })
  await site().rpc('rooms.update', { room_id, waiting_room: false })
  expect(await look(url)).toEqual({ ...facts, people: { count: 1, names: ['Ann'] } })
  await site().rpc('rooms.lock', { room_ids: [room_id] })
  expect(await look(asHost)).toEqual({ ...facts, people: { count: 1 } })
  await site().rpc('rooms.unlock', { room_ids: [room_id] })
  ann.drop()

  const refused = { ...nothing, refusal: 'unauthorised' }
  expect(await look(`${url}x`)).toEqual(refused)
  expect(await look((await site().rpc('media.join_link', { room_id: other.room_id })).url)).toEqual(refused)
  expect(await (await fetch(`${site().nodeUrl}/entry/${room_id}`)).json()).toEqual(nothing)
  const bo = (await site().rpc('media.join_link', { room_id, user_id: 'bo', user_name: 'Bo' })).url
  const inside = await SignalClient.join(site().nodeUrl, room_id, { token: tokenOf(bo) })
  await site().until(async () => (await site().rpc('rooms.get', { room_id })).users.length > 0)
  await site().rpc('rooms.kick', { room_id, user_id: 'bo' })
  await inside.closed
  expect(await look(bo)).toEqual({ ...nothing, refusal: 'removed' })

  // Without a valid link the answer does not tell a deleted room from an unknown one.
  const toOther = (await site().rpc('media.join_link', { room_id: other.room_id })).url
  await site().rpc('rooms.delete', { room_ids: [other.room_id] })
  expect(await look(toOther, other.room_id)).toEqual({ ...nothing, refusal: 'deleted' })
  expect(await look(`${toOther}x`, other.room_id)).toEqual(refused)
  expect(await (await fetch(`${site().nodeUrl}/entry/${other.room_id}`)).json()).toEqual(nothing)

  const start = new Date(Date.now() + 3_600_000).toISOString().slice(0, 19)
  const schedule = { start, zone: 'UTC', minutes: 30, early_minutes: 10, overrun_minutes: 0 }
  const later = await site().rpc('rooms.create', { topic: 'Board', schedule })
  const soon = { opens_in_ms: expect.any(Number), starts_at: Date.parse(`${start}Z`) }
  const early = (await site().rpc('media.join_link', { room_id: later.room_id })).url
  expect(await look(early, later.room_id)).toEqual({
    ...nothing,
    topic: 'Board',
    opening: soon,
    people: { count: 0, names: [] },
  })
  expect(await (await fetch(`${site().nodeUrl}/entry/${later.room_id}`)).json()).toEqual(nothing)
})

test('a lost camera that moves to another room is no longer expected in the old one', async () => {
  const [here, there] = [
    await site().rpc('rooms.create', { topic: 'Here' }),
    await site().rpc('rooms.create', { topic: 'There' }),
  ]
  await using camera = await startTestCamera()
  expect(await site().join(here.room_id, 'gate', camera.url)).toMatchObject({ ret: 0 })
  const ann = await enter(here.room_id, 'Ann')
  camera.close()
  expect(await ann.next('person_left')).toEqual({ type: 'person_left', user_id: 'gate', lost: true })
  ann.forget()
  await site().rpc('devices.update', { userId: 'gate', roomId: there.room_id })
  expect(await ann.next('person_left')).toEqual({ type: 'person_left', user_id: 'gate' })
  ann.drop()
})

test('without a host the guest is told so, the operator sees who waits, writes to them, admits one and refuses another; the log names the operator', async () => {
  const { room_id } = await site().rpc('rooms.create', { topic: 'Casting', waiting_room: true })
  const wait = async (user_id: string): Promise<SignalClient> => {
    const { url } = await site().rpc('media.join_link', { room_id, user_id, user_name: `Name of ${user_id}` })
    const guest = new SignalClient(site().nodeUrl)
    await guest.ask(room_id, { token: tokenOf(url) })
    return guest
  }
  const bo = await wait('bo')
  expect(await bo.next('waiting')).toEqual({ type: 'waiting', topic: 'Casting', host_here: false })
  const cy = await wait('cy')
  const waiting = async () => (await site().rpc('waiting.list', {})).items
  await expect.poll(async () => (await waiting()).map(({ user_id }) => user_id)).toEqual(['bo', 'cy'])
  expect((await waiting())[0]).toMatchObject({ room_id, topic: 'Casting', user_name: 'Name of bo' })
  expect((await site().rpc('rooms.get', { room_id })).room).toMatchObject({ waiting: 2, people: 0 })

  expect(await site().rpc('waiting.message', { room_id, user_id: 'bo', text: 'One moment' })).toEqual({ reached: 1 })
  expect(await bo.next('waiting_message')).toMatchObject({ text: 'One moment' })
  // A viewer sees who waits, and lets nobody in.
  const viewer = { transport: 'internal', client: '', role: 'viewer' } as const
  expect(await site().controller.dispatch('waiting.admit', { room_id }, viewer)).toMatchObject({
    error: { code: 'forbidden' },
  })
  const operator = { transport: 'rpc', client: '10.0.0.4', role: 'operator', way: 'password', account: 'Olga' } as const
  expect(await site().controller.dispatch('waiting.admit', { room_id, user_id: 'bo' }, operator)).toEqual({
    ok: true,
    value: { people: [{ user_id: 'bo', user_name: 'Name of bo' }], refusal: null },
  })
  await bo.next('joined')
  expect(await site().controller.dispatch('waiting.refuse', { room_id, user_id: 'cy' }, operator)).toMatchObject({
    ok: true,
  })
  expect(await cy.next('refused')).toMatchObject({ reason: 'turnedAway' })
  expect(await site().controller.dispatch('waiting.admit', { room_id, user_id: 'cy' }, operator)).toMatchObject({
    error: { code: 'notFound' },
  })
  await expect.poll(waiting).toEqual([])

  // The guest reads when a host comes, and when the last one goes.
  const dee = await wait('dee')
  await expect.poll(async () => (await waiting()).length).toBe(1)
  const ann = await enter(room_id, 'Ann', 'host')
  await dee.next((message) => message.type === 'waiting' && message.host_here)
  dee.messages.length = 0
  ann.send({ type: 'leave' })
  expect(await dee.next('waiting')).toMatchObject({ host_here: false })
  // The state of a room ends with it.
  await site().rpc('rooms.delete', { room_ids: [room_id] })
  await expect.poll(waiting).toEqual([])

  const { items } = await site().rpc('events.list', { text: 'Casting', limit: 500 })
  const told = items.filter(({ kind }) => /person\.(waits|letIn|turnedAway)/.test(kind))
  expect(told.map(({ kind, actor, subject }) => [kind, actor.name, subject.name]).reverse()).toEqual([
    ['person.waits', '', 'Name of bo'],
    ['person.waits', '', 'Name of cy'],
    ['person.letIn', 'Olga', 'Name of bo'],
    ['person.turnedAway', 'Olga', 'Name of cy'],
    ['person.waits', '', 'Name of dee'],
  ])
})

test('an invitation ends with the client whose link let its host in, and a host whose link has ended invites nobody', async () => {
  const { room_id } = await site().rpc('rooms.create', { topic: 'Panel' })
  const linked = await site().api.get('/rtc/room/join_url', { room_id, user_id: 'Di', user_name: 'Di', role: 'host' })
  const host = await SignalClient.join(site().nodeUrl, room_id, { token: tokenOf(String(linked.url)) })
  host.send({ type: 'invite' })
  const { url } = await host.next('invitation')
  const [credential] = await site().rpc('credentials.list', {})
  const access_key = credential?.access_key ?? ''
  await site().rpc('credentials.update', { access_key, enabled: false })
  const invited = SignalClient.join(site().nodeUrl, room_id, { token: tokenOf(url), user_name: 'Guest' })
  await expect(invited).rejects.toThrow('unauthorised')
  host.send({ type: 'invite' })
  expect(await host.next('error')).toMatchObject({ reason: 'busy' })
  await site().rpc('credentials.update', { access_key, enabled: true })
  await site().api.authenticate()
})
