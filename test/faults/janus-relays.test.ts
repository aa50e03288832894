import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startEncodedCamera } from '../support/camera/encoded-camera.ts'
import { RoomSite, type Visitor } from '../support/sites/room-site.ts'
import { RelayedSite } from '../support/janus/relayed-site.ts'
import { removeFolder, startHeadless } from '../support/headless.ts'
import { type JanusServer, startJanus } from '../support/janus/janus-server.ts'
import { RoomPeer } from '../support/janus/room-peers.ts'

/** Rooms on several Janus servers, some of which die. */

test('a node between two others is killed: its viewers receive pictures again within two seconds', async () => {
  await using a = await startJanus()
  await using b = await startJanus()
  await using c = await startJanus()
  // Each node relays a stream to one other: there is a middle.
  const site = await RelayedSite.open({ a, b, c }, 'middle', { fanOut: 1 })
  site.enter('ann', 'a')
  site.enter('bob', 'b')
  site.enter('cy', 'c')
  await site.send('ann')
  await site.watch('ann', 'bob')
  const viewer = await site.watch('ann', 'cy')
  expect(site.relays).toEqual(['ann from a to b', 'ann from b to c'])

  const killedAt = performance.now()
  await b.stop('SIGKILL')
  await expect.poll(() => site.told.filter(({ type }) => type === 'over'), { interval: 5 }).not.toEqual([])
  const again = await site.watch('ann', 'cy')
  const away = performance.now() - killedAt
  console.log(`a viewer behind the node that was killed saw nothing for ${away.toFixed(0)} ms`)
  expect(away).toBeLessThan(2_000)
  expect(again.packets).toBeGreaterThan(0)
  expect(site.relays).toEqual(['ann from a to c'])
  expect(site.out).toEqual(['bob'])
  await viewer.close()
})

test('the controller is killed while clients of the Janus API watch each other on two nodes: the next one continues their relays, and no picture is missing', async () => {
  const tokenSecret = 'a secret that signs tokens'
  await using north = await startJanus({ tokenSecret })
  await using south = await startJanus({ tokenSecret })
  const nodes = [{ ...north.asNode('north'), max_users: 1 }, south.asNode('south')]
  let controller = await startHeadless({ site: { nodes } })
  const { folder } = controller
  try {
    const { room_id } = await controller.rpc('rooms.create', { topic: 'Town hall' })
    /** Joins a user by Janus's own API, and waits until the controller has noticed. */
    const join = async (user_id: string, janus: JanusServer): Promise<RoomPeer> => {
      const given = await controller.rpc('media.participant_token', { room_id, user_id })
      expect(given.ws_url).toBe(janus.wsUrl)
      const { token, room_token: roomToken } = given
      const peer = await RoomPeer.join(janus, given.room, user_id, { token, roomToken })
      const users = async () => (await controller.rpc('rooms.get', { room_id })).users.map(({ user_id: id }) => id)
      await expect.poll(users, { timeout: 10_000 }).toContain(user_id)
      return peer
    }
    const ann = await join('ann', north)
    await ann.publish({ pictures: 25, packets: 1, bytes: 200, audio: false })
    const bob = await join('bob', south)
    const relayed = (): string[] => [...bob.publishers].filter((id) => id.endsWith('~ann'))
    await expect.poll(relayed, { timeout: 10_000 }).toHaveLength(1)
    const [feed = ''] = relayed()
    await using viewer = await bob.count(feed)

    // The two nodes relay without the controller for as long as Janus waits for its return.
    await controller.stop('SIGKILL')
    const moreFrames = async (): Promise<void> => {
      const { frames } = viewer.watched
      await expect.poll(() => viewer.watched.frames, { timeout: 10_000 }).toBeGreaterThan(frames + 50)
    }
    await moreFrames()
    let left = false
    const gone = bob.until(feed, false).then(() => {
      left = true
    })
    controller = await startHeadless({ folder })
    const relays = async () => (await controller.rpc('relays.list', { room_id }))[0]?.relays ?? []
    const up = { stream_id: 'ann', from: 'north', to: 'south', state: 'up' }
    await expect.poll(relays, { timeout: 10_000 }).toMatchObject([up])
    await moreFrames()
    expect([left, viewer.watched.lost]).toEqual([false, 0])
    console.log(`the longest gap between two frames was ${viewer.watched.maxGap} ms`)
    expect(viewer.watched.maxGap).toBeLessThan(500)
    const participants = async () => {
      const room = (await south.ask('videoroom', { request: 'list', admin_key: south.configuration.secrets.adminKey }))
        .list
      return (room as { num_participants: number }[]).map(({ num_participants }) => num_participants)
    }
    // The observer, the relayed stream, and Bob.
    await expect.poll(participants).toEqual([3])
    await controller.rpc('rooms.delete', { room_ids: [room_id] })
    await expect.poll(participants).toEqual([])
    await gone
    await Promise.all([ann, bob].map((peer) => peer.leave()))
  } finally {
    await controller.stop('SIGKILL')
    await removeFolder(folder)
  }
}, 60_000)

test('three users and a camera on two nodes, one of which is full, see each other, also after that node is killed and after the controller is killed', async () => {
  const tokenSecret = 'a secret that signs tokens'
  await using north = await startJanus({ tokenSecret })
  await using south = await startJanus({ tokenSecret })
  const nodes = [{ ...north.asNode('north'), max_users: 2 }, south.asNode('south')]
  await using site = await RoomSite.start({ nodes })
  const room = await site.room({ topic: 'Town hall' })
  const nodesOf = async (): Promise<readonly string[]> =>
    (await site.controller.rpc('relays.list', { room_id: room }))[0]?.nodes ?? []
  const join = async (user_id: string, user_name: string): Promise<Visitor> =>
    await site.join(await site.link(room, { user_id, user_name }))
  await site.camera(room, 'yard', 'Yard', startEncodedCamera)
  const ann = await join('ann', 'Ann')
  await expect
    .poll(async () => (await site.controller.rpc('rooms.get', { room_id: room })).users.length, { timeout: 10_000 })
    .toBe(2)
  const [bob, cy] = [await join('bob', 'Bob'), await join('cy', 'Cy')]
  const all = [
    [ann, 'Ann'],
    [bob, 'Bob'],
    [cy, 'Cy'],
  ] as const
  const everybodySeesEverybody = async (): Promise<void> => {
    const names = ['Yard', ...all.map(([, name]) => name)]
    const pairs = all.flatMap(([visitor, own]) =>
      names.filter((name) => name !== own).map((name) => ({ visitor, own, name })),
    )
    const seen = await Promise.all(pairs.map(({ visitor, name }) => comes(visitor, name)))
    expect(
      pairs.filter((_, index) => seen[index] !== true).map(({ own, name }) => `${own} does not see ${name}`),
    ).toEqual([])
  }
  await everybodySeesEverybody()
  expect(await nodesOf()).toEqual(['north', 'south'])
  const relays = (await site.controller.rpc('relays.list', {}))[0]?.relays ?? []
  expect(relays.map(({ stream_id, from, to }) => `${stream_id} ${from} ${to}`).sort()).toEqual([
    'ann north south',
    'bob south north',
    'cy south north',
    'yard north south',
  ])

  // The room's own node dies. Users on the other one stay.
  const longest = await pausesWhile(cy, 'Bob', async () => {
    await north.stop('SIGKILL')
    await everybodySeesEverybody()
  })
  console.log(`those on the other node saw each other's pictures pause for ${longest} ms at most`)
  expect(longest).toBeLessThan(2_000)
  expect(await nodesOf()).toEqual([])

  // It returns, and new users join there.
  await north.start()
  await site.controller.stop('SIGKILL')
  await site.startAgain()
  await everybodySeesEverybody()
  expect(all.flatMap(([visitor]) => visitor.problems)).toEqual([])
}, 240_000)

/** Tells whether pictures of a user arrive at a page, or return within the time that a busy machine may need. */
async function comes(visitor: Visitor, name: string): Promise<boolean> {
  const video = `document.querySelector('[aria-label=${JSON.stringify(name)}] video')`
  const end = performance.now() + 45_000
  for (let before = Number.POSITIVE_INFINITY; performance.now() < end; await sleep(250)) {
    const now = Number(await visitor.page.evaluate(`${video}?.getVideoPlaybackQuality().totalVideoFrames ?? Infinity`))
    if (now > before && now !== Number.POSITIVE_INFINITY) return true
    before = now
  }
  return false
}

/** Measures the maximum interval between two pictures of a tile during an action, in milliseconds. */
async function pausesWhile(visitor: Visitor, name: string, run: () => Promise<void>): Promise<number> {
  const video = `document.querySelector('[aria-label=${JSON.stringify(name)}] video')`
  await visitor.page.evaluate(`(() => {
    globalThis.pauses = { longest: 0, last: performance.now() }
    const video = ${video}
    const frame = () => {
      const now = performance.now()
      pauses.longest = Math.max(pauses.longest, now - pauses.last)
      pauses.last = now
      video.requestVideoFrameCallback(frame)
    }
    video.requestVideoFrameCallback(frame)
  })()`)
  await run()
  return Math.round(Number(await visitor.page.evaluate('Math.max(pauses.longest, performance.now() - pauses.last)')))
}
