import { beforeEach, expect, test } from 'vitest'
import { startJanus } from '../../support/janus/janus-server.ts'
import { Participant } from '../../support/janus/participant.ts'
import type { Arrivals } from '../../support/media/arrivals.ts'
import { SignalClient } from '../../support/media/signal-client.ts'
import { WhepPeer } from '../../support/media/whep-peer.ts'
import { WhipPeer } from '../../support/media/whip-peer.ts'
import { MediaSite } from '../../support/sites/media-site.ts'
import { shared } from '../../support/fixtures.ts'

const janus = shared(() => startJanus({ tokenSecret: 'a secret that signs tokens' }))

/** The site of this test: its rooms are on a Janus server, beside a node of this machine that is off. Tests change both. */
let site: MediaSite
beforeEach(async () => {
  site = await MediaSite.start({ nodes: [janus().asNode('j'), { name: 'here', kind: 'embedded', enabled: false }] })
  await online('j')
  // On a busy machine the process may take longer.
  await site.until(() => site.nodeUrl !== '')
  return async () => await site[Symbol.asyncDispose]()
})

/** Answer of Janus to a join of a room that it does not hold. */
const noSuchRoom = 426

const online = (name: string): Promise<void> =>
  site.until(async () =>
    (await site.rpc('nodes.list', {})).some(({ config, state }) => config.name === name && state === 'online'),
  )

const newRoom = async (topic: string): Promise<string> => {
  const { room_id } = await site.rpc('rooms.create', { topic })
  await site.api.get('/sdk/get_mcu', { room_id })
  return room_id
}

const linkOf = async (room_id: string, user_id: string): Promise<string> => {
  const { url } = await site.rpc('media.join_link', { room_id, user_id, user_name: user_id })
  return new URL(url).hash.replace('#token=', '')
}

/** Joins through the page. */
const enter = async (room_id: string, user_id: string): Promise<SignalClient> =>
  await SignalClient.join(site.nodeUrl, room_id, { token: await linkOf(room_id, user_id) })

const publish = (room: string, { joined }: SignalClient): Promise<WhipPeer> =>
  WhipPeer.open(`${site.nodeUrl}/whip/${room}`, joined.session, { anyAddress: true })

/** Waits for more packets. */
const flows = async (arrivals: Arrivals): Promise<void> => {
  const before = arrivals.received
  await expect.poll(() => arrivals.received, { timeout: 5_000 }).toBeGreaterThan(before + 20)
}

/** Waits for the node that the room's record names. */
const nodeOf = (room_id: string) => expect.poll(async () => (await site.rpc('rooms.get', { room_id })).room.node)

/** Users of the room, by name: page and Janus tell of those who enter at the same time in any order. */
const usersOf = async (room_id: string): Promise<string[]> =>
  (await site.rpc('rooms.get', { room_id })).users.map(({ user_id }) => user_id).toSorted()

test('users read whether their room was closed or moves to another node, and join it there', async () => {
  const closed = await newRoom('Closed')
  const ann = await enter(closed, 'ann')
  await site.rpc('rooms.close', { room_ids: [closed] })
  expect(await ann.next('removed')).toEqual({ type: 'removed', reason: 'closed' })

  const room = await newRoom('Moved')
  // From now on the process belongs to a node of this machine.
  await site.rpc('nodes.enable', { name: 'here' })
  await online('here')
  const [bob, cem] = [await enter(room, 'bob'), await enter(room, 'cem')]
  const sender = await publish(room, bob)
  await cem.next('stream_added')
  await site.rpc('nodes.disable', { name: 'j' })
  for (const client of [bob, cem])
    expect(await client.next('removed')).toEqual({ type: 'removed', reason: 'restarting' })
  const [again, other] = [await enter(room, 'bob'), await enter(room, 'cem')]
  // People may come as soon as the other node holds the room; its record is written after that.
  await nodeOf(room).toBe('here')
  const there = await WhipPeer.open(`${site.nodeUrl}/whip/${room}`, again.joined.session)
  await other.next('stream_added')
  const viewer = await WhepPeer.open(`${site.nodeUrl}/whep/${room}/bob`, other.joined.session)
  await flows(viewer.video)
  await Promise.all([sender.close().catch(() => {}), there.close(), viewer.close()])
  await site.rpc('nodes.enable', { name: 'j' })
  await online('j')
  await site.rpc('nodes.disable', { name: 'here' })
})

test('a room that left Janus shows none of its state there, however long its new record takes to be stored', async () => {
  const room = await newRoom('Slow disk')
  await site.rpc('nodes.enable', { name: 'here' })
  await online('here')
  const [bob, cem] = [await enter(room, 'bob'), await enter(room, 'cem')]
  const sender = await publish(room, bob)
  await cem.next('stream_added')
  // A link is stored before it is answered, which this disk cannot do below.
  const token = await linkOf(room, 'cem')
  await site.rpc('nodes.disable', { name: 'j' })
  // The room's process gets it first; the disk has yet to take the record.
  await site.rpc('lab.stall_store', { stalled: true })
  expect(await cem.next('removed')).toEqual({ type: 'removed', reason: 'restarting' })
  const again = await SignalClient.join(site.nodeUrl, room, { token })
  await expect.poll(() => usersOf(room)).toEqual(['cem'])
  await site.rpc('lab.stall_store', { stalled: false })
  await nodeOf(room).toBe('here')
  const dan = await enter(room, 'dan')
  expect(dan.joined.people.map(({ user_id }) => user_id)).toEqual(['cem', 'dan'])
  expect([...again.joined.streams, ...dan.joined.streams]).toEqual([])
  expect(again.messages.filter(({ type }) => type === 'stream_added')).toEqual([])
  await sender.close().catch(() => {})
  await site.rpc('nodes.enable', { name: 'j' })
})

/** A schedule with one meeting of a minute. @param seconds until its start */
const meetingIn = (seconds: number, more: { early_minutes?: number; overrun_minutes?: number } = {}) => ({
  start: new Date(Date.now() + seconds * 1_000).toISOString().slice(0, 19),
  minutes: 1,
  zone: 'UTC',
  early_minutes: 0,
  overrun_minutes: 0,
  ...more,
})

/** Events of the room's schedule, the latest first. */
const reportsOf = async (id: string): Promise<string[]> => {
  const { items } = await site.rpc('events.list', { subject: { type: 'room', id } })
  return items.map(({ kind }) => kind).filter((kind) => kind.endsWith('BySchedule'))
}

/** Lets somebody in by Janus's own API. */
async function enterByJanus(room_id: string, user_id: string) {
  const { room, token, room_token } = await site.rpc('media.participant_token', { room_id, user_id })
  const participant = await Participant.connect(janus().wsUrl, token)
  await participant.join(room, user_id, room_token)
  return { participant, comeBack: () => participant.tryToJoin(room, user_id, room_token) }
}

test('a scheduled room on Janus opens before its start; until then it lets in nobody, by page or by Janus', async () => {
  const schedule = meetingIn(62, { early_minutes: 1 })
  const { room_id } = await site.rpc('rooms.create', { topic: 'Board', schedule })
  const token = await linkOf(room_id, 'ann')
  const early = new SignalClient(site.nodeUrl)
  await early.ask(room_id, { token })
  expect(await early.next('refused')).toMatchObject({
    reason: 'notOpenYet',
    opening: { opens_in_ms: expect.any(Number) },
  })
  await expect(enterByJanus(room_id, 'zoe')).rejects.toThrow('it opens at')

  await expect.poll(() => reportsOf(room_id)).toEqual(['room.openedBySchedule'])
  const ann = await SignalClient.join(site.nodeUrl, room_id, { token })
  // The minute before the start, and the meeting.
  expect(ann.joined.room.end?.closes_in_ms).toBeGreaterThan(60_000)
  await using zoe = (await enterByJanus(room_id, 'zoe')).participant
  await expect.poll(() => usersOf(room_id)).toEqual(['ann', 'zoe'])
  expect((await site.rpc('rooms.get', { room_id })).room.node).toBe('j')
  expect(zoe.heard.map(({ videoroom }) => videoroom)).not.toContain('destroyed')
  ann.drop()
})

test('at the end of a meeting on Janus everybody is out and nobody gets back in', async () => {
  const { room_id } = await site.rpc('rooms.create', { topic: 'Stand-up', schedule: meetingIn(-56) })
  const ann = await enter(room_id, 'ann')
  expect(ann.joined.room.end?.closes_in_ms).toBeLessThanOrEqual(4_000)
  const zoe = await enterByJanus(room_id, 'zoe')
  await using _ = zoe.participant
  await expect.poll(() => usersOf(room_id)).toEqual(['ann', 'zoe'])
  expect(await ann.next('removed')).toEqual({ type: 'removed', reason: 'closed' })
  await expect.poll(() => usersOf(room_id)).toEqual([])
  await expect.poll(() => reportsOf(room_id)).toEqual(['room.closedBySchedule', 'room.openedBySchedule'])
  await expect.poll(() => zoe.participant.heard.map(({ videoroom }) => videoroom)).toContain('destroyed')
  await zoe.participant.attachAgain()
  expect(await zoe.comeBack()).toBe(noSuchRoom)
  await expect(enter(room_id, 'ann')).rejects.toThrow('noRoom')
})

test('a meeting on Janus can overrun its end; it closes after the last user leaves', async () => {
  const schedule = meetingIn(-57, { overrun_minutes: 1 })
  const { room_id } = await site.rpc('rooms.create', { topic: 'Review', schedule })
  const end = Date.parse(`${schedule.start}Z`) + 60_000
  const ann = await enter(room_id, 'ann')
  const zoe = await enterByJanus(room_id, 'zoe')
  await using _ = zoe.participant
  await expect.poll(() => usersOf(room_id)).toEqual(['ann', 'zoe'])
  ann.send({ type: 'leave' })
  await expect.poll(() => usersOf(room_id)).toEqual(['zoe'])
  await expect.poll(() => Date.now()).toBeGreaterThan(end)
  // Somebody in Janus alone keeps the meeting going, and others may come back.
  const again = await enter(room_id, 'ann')
  expect(again.joined.room.end?.ends_in_ms).toBeLessThanOrEqual(0)
  again.send({ type: 'leave' })
  expect(await reportsOf(room_id)).toEqual(['room.openedBySchedule'])
  await zoe.participant.leave()
  await expect
    .poll(() => reportsOf(room_id), { timeout: 20_000 })
    .toEqual(['room.closedBySchedule', 'room.openedBySchedule'])
  await expect(enter(room_id, 'ann')).rejects.toThrow('noRoom')
})
