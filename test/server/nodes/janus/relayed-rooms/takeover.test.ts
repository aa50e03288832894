import { expect, test } from 'vitest'
import { type JanusServer, startJanus } from '../../../../support/janus/janus-server.ts'
import { RoomPeer } from '../../../../support/janus/room-peers.ts'
import { controllerSite } from '../../../../support/sites/controller-site.ts'

const small = { pictures: 25, packets: 1, bytes: 200, audio: false }

test('the controller restarts while a user watches another guarded node, in a full and locked room: no picture is lost, and the room keeps its number of places', async () => {
  const tokenSecret = 'a secret that signs tokens'
  await using north = await startJanus({ tokenSecret })
  await using south = await startJanus({ tokenSecret })
  const document = {
    nodes: [{ ...north.asNode('north'), max_users: 1 }, south.asNode('south')],
    settings: { deadlines: { health_interval_ms: 200 } },
  }
  const site = await controllerSite(document)
  const key = await site.key()
  const { room_id } = await site.call(key, 'rooms.create', { topic: 'Town hall', attendee_max: 2 })
  const users = async (): Promise<string[]> =>
    (await site.call(key, 'rooms.get', { room_id })).users.map(({ user_id }) => user_id).sort()
  const join = async (user_id: string, janus: JanusServer): Promise<RoomPeer> => {
    const given = await site.call(key, 'media.participant_token', { room_id, user_id })
    expect(given.ws_url).toBe(janus.wsUrl)
    const peer = await RoomPeer.join(janus, given.room, user_id, { token: given.token, roomToken: given.room_token })
    await expect.poll(users).toContain(user_id)
    return peer
  }
  const ann = await join('ann', north)
  await ann.publish(small)
  const bob = await join('bob', south)
  const feeds = (): string[] => [...bob.publishers].filter((id) => id.endsWith('~ann'))
  await expect.poll(feeds).toHaveLength(1)
  const [feed = ''] = feeds()
  await using viewer = await bob.count(feed)
  await site.call(key, 'rooms.lock', { room_ids: [room_id] })
  const places = await south.room(room_id)
  const relays = async () => (await site.call(key, 'relays.list', { room_id }))[0]?.relays ?? []
  await expect.poll(relays).toMatchObject([{ stream_id: 'ann', from: 'north', to: 'south', state: 'up' }])
  let left = false
  void bob.until(feed, false).then(() => {
    left = true
  })

  await site.restart(document)
  await expect.poll(relays).toMatchObject([{ stream_id: 'ann', from: 'north', to: 'south', state: 'up' }])
  await expect.poll(users).toEqual(['ann', 'bob'])
  expect(await south.room(room_id)).toEqual(places)
  await site.call(key, 'rooms.update', { room_id, attendee_max: 3 })
  await expect
    .poll(async () => [await north.handles('roomdesk-relay'), await south.handles('roomdesk-relay')])
    .toEqual([2, 2])
  const { frames } = viewer.watched
  await expect.poll(() => viewer.watched.frames).toBeGreaterThan(frames + 25)
  expect([left, viewer.watched.lost]).toEqual([false, 0])
  expect(viewer.watched.maxGap).toBeLessThan(400)

  // It controls the relays: a node taken out of service keeps none of them, nor does the other one.
  await site.call(key, 'nodes.disable', { name: 'north' })
  await expect
    .poll(async () => [await north.handles('roomdesk-relay'), await south.handles('roomdesk-relay')])
    .toEqual([0, 0])
  expect(left).toBe(true)
  expect(await south.participants(room_id)).toEqual(['bob'])
  await site.call(key, 'rooms.delete', { room_ids: [room_id] })
  await expect.poll(() => south.room(room_id)).toBeUndefined()
  await Promise.all([ann, bob].map((peer) => peer.leave()))
})
