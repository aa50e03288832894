import { expect, test } from 'vitest'
import { startJanus } from '../../support/janus/janus-server.ts'
import { Participant } from '../../support/janus/participant.ts'
import { SignalClient } from '../../support/media/signal-client.ts'
import { WhepPeer } from '../../support/media/whep-peer.ts'
import { WhipPeer } from '../../support/media/whip-peer.ts'
import { MediaSite } from '../../support/sites/media-site.ts'
import { shared } from '../../support/fixtures.ts'

/** A site with two Janus servers that need tokens. The first is full with two users, so later ones join on the second. */
const tokenSecret = 'a secret that signs tokens'
const north = shared(() => startJanus({ tokenSecret }))
const south = shared(() => startJanus({ tokenSecret }))
const site = shared(async () => {
  const nodes = [{ ...north().asNode('north'), max_users: 2 }, south().asNode('south')]
  const site = await MediaSite.start({ nodes })
  const online = async () => (await site.rpc('nodes.list', {})).every(({ state }) => state === 'online')
  await site.until(async () => site.nodeUrl !== '' && (await online()))
  return site
})

const small = { pictures: 25, packets: 1, bytes: 200, anyAddress: true }

/** Joins through the page and waits until joined. */
async function enter(room_id: string, user_id: string): Promise<SignalClient> {
  const { url } = await site().rpc('media.join_link', { room_id, user_id, user_name: user_id })
  const token = new URL(url).hash.replace('#token=', '')
  const client = await SignalClient.join(site().nodeUrl, room_id, { token })
  await expect.poll(() => site().users(room_id), { timeout: 5_000 }).toContain(user_id)
  return client
}

const publish = (room: string, { joined }: SignalClient): Promise<WhipPeer> =>
  WhipPeer.open(`${site().nodeUrl}/whip/${room}`, joined.session, small)

/** Watches a stream as soon as it is announced. */
async function watch(room: string, client: SignalClient, stream: string): Promise<WhepPeer> {
  if (!client.joined.streams.some(({ stream_id }) => stream_id === stream))
    await client.next((message) => message.type === 'stream_added' && message.stream.stream_id === stream)
  return await WhepPeer.openOffered(`${site().nodeUrl}/whep/${room}/${stream}`, client.joined.session)
}

const cascade = async (room_id: string) => (await site().rpc('relays.list', { room_id }))[0]

test('a room with a full node continues on a second one: all see each other and can be removed; killing the first node does not affect users of the second', async () => {
  const { room_id: room } = await site().rpc('rooms.create', { topic: 'Town hall' })
  const [ann, bob] = [await enter(room, 'ann'), await enter(room, 'bob')]
  expect(await site().rpc('relays.list', {})).toEqual([])
  const cy = await enter(room, 'cy')
  expect(await cascade(room)).toMatchObject({ nodes: ['north', 'south'], relays: [] })
  expect(await site().users(room)).toEqual(['ann', 'bob', 'cy'])

  const [annSends, cySends] = [await publish(room, ann), await publish(room, cy)]
  const cySeesAnn = await watch(room, cy, 'ann')
  const annSeesCy = await watch(room, ann, 'cy')
  const bobSeesAnn = await watch(room, bob, 'ann')
  const relays = (await cascade(room))?.relays.map(({ stream_id, from, to, state }) => [stream_id, from, to, state])
  expect(relays?.sort()).toEqual([
    ['ann', 'north', 'south', 'up'],
    ['cy', 'south', 'north', 'up'],
  ])
  for (const viewer of [cySeesAnn, annSeesCy, bobSeesAnn]) expect(viewer.packets).toBeGreaterThan(0)
  // Relays are no users: neither for clients nor for the operator.
  expect(await site().users(room)).toEqual(['ann', 'bob', 'cy'])
  expect(
    ann.joined.people.concat(cy.joined.people).every(({ user_id }) => ['ann', 'bob', 'cy'].includes(user_id)),
  ).toBe(true)

  // Joins by Janus's own API on the second node, to which all streams are relayed.
  const given = await site().rpc('media.participant_token', { room_id: room, user_id: 'dan' })
  expect(given.ws_url).toBe(south().wsUrl)
  await using dan = await Participant.connect(given.ws_url, given.token)
  await dan.join(given.room, 'dan', given.room_token)
  await expect.poll(() => site().users(room), { timeout: 5_000 }).toContain('dan')

  // Joins by a link of the same user, who is now there.
  const danAgain = await enter(room, 'dan')
  await expect.poll(() => dan.heard).toContainEqual(expect.objectContaining({ reason: 'kicked' }))
  const danSends = await publish(room, danAgain)
  await (await watch(room, ann, 'dan')).close()
  await danSends.close()

  // Removed on the second node.
  const eve = await enter(room, 'eve')
  await site().rpc('rooms.kick', { room_id: room, user_id: 'eve' })
  expect(await eve.next('removed')).toMatchObject({ reason: 'kicked' })

  const fred = await enter(room, 'fred')
  const fredSeesCy = await watch(room, fred, 'cy')
  await north().stop('SIGKILL')
  for (const client of [ann, bob]) expect(await client.next('removed')).toMatchObject({ reason: 'restarting' })
  await expect.poll(() => cascade(room), { timeout: 10_000 }).toBeUndefined()
  const before = fredSeesCy.packets
  await annSends.close()
  // Earlier messages about ann are from the first node.
  const toldBefore = new Set(fred.messages)
  const annAgain = await enter(room, 'ann')
  const sendsAgain = await publish(room, annAgain)
  await fred.next(
    (message) => message.type === 'stream_added' && message.stream.stream_id === 'ann' && !toldBefore.has(message),
  )
  const fredSeesAnnAgain = await watch(room, fred, 'ann')
  expect(fredSeesAnnAgain.packets).toBeGreaterThan(0)
  expect(fredSeesCy.packets).toBeGreaterThan(before)
  for (const client of [cy, fred]) expect(client.messages.some(({ type }) => type === 'removed')).toBe(false)
  expect((await site().rpc('rooms.get', { room_id: room })).room.node).toBe('south')

  await Promise.all([cySeesAnn, annSeesCy, bobSeesAnn, fredSeesCy, fredSeesAnnAgain].map((viewer) => viewer.close()))
  await Promise.all([cySends, sendsAgain].map((sender) => sender.close()))
}, 60_000)
