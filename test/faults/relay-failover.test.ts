import { expect, test } from 'vitest'
import { expectPeace, RoomSite, type Visitor } from '../support/sites/room-site.ts'
import { startCamera } from '../support/camera/camera.ts'
import { ControllersSite, type SiteController } from '../support/sites/controllers-site.ts'
import { handOver } from '../support/controllers/hand-over.ts'
import { type JanusServer, startJanus } from '../support/janus/janus-server.ts'
import { RoomPeer } from '../support/janus/room-peers.ts'

/** A room on two Janus servers while its site changes the leader: users behind a relay notice nothing. */

const fps = 15
const tokenSecret = 'a secret that signs tokens'
/** As without a change of leader, on a busy machine. */
const gapMs = 500
/** Patience on a busy machine, in milliseconds. */
const patient = { timeout: 20_000 }

/** A change of the leader. */
interface Change {
  what: string
  /** Number of pictures of a user, at 25 per second, to wait for afterwards. */
  pictures: number
  /** Performs the change. Resolves to the next leader. */
  run: (controllers: ControllersSite, leader: SiteController) => Promise<SiteController>
}

const changes: Change[] = [
  {
    what: 'is killed',
    // Longer than the next leader continues a relay without a request.
    pictures: 40 * 25,
    run: async (controllers, leader) => {
      await controllers.kill(leader)
      return await controllers.leader(leader)
    },
  },
  {
    what: 'hands over',
    pictures: 8 * 25,
    run: async (controllers, leader) => {
      const next = controllers.controllers.find((one) => one !== leader) ?? leader
      await handOver(controllers, leader, next)
      await expect.poll(async () => (await controllers.leader()).name, patient).toBe(next.name)
      return next
    },
  },
  {
    what: 'is frozen until another leads',
    pictures: 8 * 25,
    run: async (controllers, leader) => {
      controllers.freeze(leader, true)
      const next = await controllers.leader(leader)
      controllers.freeze(leader, false)
      return next
    },
  },
]

test.for(changes)(
  'the leader $what: relays of a camera and a user from one Janus server to the other continue without a gap',
  { timeout: 120_000 },
  async ({ what, pictures, run }) => {
    await using camera = await startCamera({ fps })
    await using north = await startJanus({ tokenSecret })
    await using south = await startJanus({ tokenSecret })
    const nodes = [{ ...north.asNode('north'), max_users: 2 }, south.asNode('south')]
    const controllers = await ControllersSite.start({ controllers: 2, nodes })
    try {
      const first = await controllers.leader()
      let { headless } = first
      const { room_id } = await headless.rpc('rooms.create', { topic: 'Yard' })
      const userAddress = camera.url('/stream1')
      const device = { roomId: room_id, userId: 'cam', userName: 'Yard', userAddress, join: 'required' } as const
      await headless.rpc('devices.create', device)
      const ids = async (): Promise<string[]> =>
        (await headless.rpc('rooms.get', { room_id })).users.map(({ user_id }) => user_id).sort()
      const join = async (user_id: string, janus: JanusServer): Promise<RoomPeer> => {
        const { token, room_token, room, ws_url } = await headless.rpc('media.participant_token', { room_id, user_id })
        expect(ws_url).toBe(janus.wsUrl)
        const peer = await RoomPeer.join(janus, room, user_id, { token, roomToken: room_token })
        await expect.poll(ids, patient).toContain(user_id)
        return peer
      }
      await expect.poll(ids, patient).toEqual(['cam'])
      const ann = await join('ann', north)
      await ann.publish({ pictures: 25, packets: 1, bytes: 200, audio: false })
      const bob = await join('bob', south)
      await expect.poll(() => bob.publishers.size, patient).toBe(2)
      const feeds = [...bob.publishers]
      const viewers = await Promise.all(feeds.map((feed) => bob.count(feed)))
      const gone = Promise.all(feeds.map((feed) => bob.until(feed, false)))
      const relays = async () =>
        ((await headless.rpc('relays.list', { room_id }))[0]?.relays ?? []).map(
          ({ stream_id, from, to, state }) => `${stream_id} ${from} ${to} ${state}`,
        )
      const up = ['ann north south up', 'cam north south up']
      await expect.poll(async () => (await relays()).sort(), patient).toEqual(up)
      const places = await south.room(room_id)

      const next = await run(controllers, first)
      ;({ headless } = next)
      await expect.poll(async () => (await relays()).sort(), patient).toEqual(up)
      await expect.poll(ids, patient).toEqual(['ann', 'bob', 'cam'])
      const frames = viewers.map(({ watched }) => watched.frames)
      const more = (): number[] => viewers.map(({ watched }, index) => watched.frames - (frames[index] ?? 0))
      await expect.poll(() => Math.max(...more()), { timeout: 60_000 }).toBeGreaterThan(pictures)
      const seen = viewers.map(({ watched }) => watched)
      console.info(
        `the leader ${what}: ${seen.map(({ frames: count, lost, maxGap }) => `of ${count} frames behind a relay ${lost} packets were lost, the longest gap was ${maxGap} ms`).join('; ')}`,
      )
      expect(seen.map(({ lost }) => lost)).toEqual([0, 0])
      expect(Math.max(...seen.map(({ maxGap }) => maxGap))).toBeLessThan(gapMs)
      // The same streams in the same number of places: nobody saw them leave.
      expect([...bob.publishers]).toEqual(feeds)
      expect(await south.room(room_id)).toEqual(places)
      // An observer on each, and two ends.
      expect([await north.handles('roomdesk-relay'), await south.handles('roomdesk-relay')]).toEqual([3, 3])

      // The next leader controls them: a relay that merely ran on would stay.
      await headless.rpc('devices.remove', { userIds: ['cam'] })
      await ann.leave()
      await gone
      await expect.poll(relays, patient).toEqual([])
      await Promise.all(viewers.map((viewer) => viewer[Symbol.asyncDispose]()))
      await bob.leave()
    } finally {
      await controllers.remove()
    }
  },
)

test('the leader is killed while users of the room page are on two Janus servers: all see each other and the camera all the time', {
  timeout: 180_000,
}, async () => {
  await using camera = await startCamera({ fps })
  await using north = await startJanus({ tokenSecret })
  await using south = await startJanus({ tokenSecret })
  const nodes = [{ ...north.asNode('north'), max_users: 2 }, south.asNode('south')]
  const controllers = await ControllersSite.start({ controllers: 2, nodes })
  const first = await controllers.leader()
  const site = RoomSite.at(first.headless)
  try {
    const room = await site.room({ topic: 'Yard' })
    const userAddress = camera.url('/stream1')
    const device = { roomId: room, userId: 'cam', userName: 'Yard', userAddress, join: 'required' } as const
    await site.controller.rpc('devices.create', device)
    const join = async (user_id: string, user_name: string): Promise<Visitor> =>
      await site.join(await site.link(room, { user_id, user_name }))
    const ids = async (): Promise<string[]> =>
      (await site.controller.rpc('rooms.get', { room_id: room })).users.map(({ user_id }) => user_id).sort()
    const ann = await join('ann', 'Ann')
    await expect.poll(ids, patient).toEqual(['ann', 'cam'])
    const bob = await join('bob', 'Bob')
    const everybodySees = async (): Promise<void> => {
      await Promise.all([ann.sees('Bob'), ann.sees('Yard'), bob.sees('Ann'), bob.sees('Yard')])
    }
    await everybodySees()
    const relays = async () =>
      ((await site.controller.rpc('relays.list', { room_id: room }))[0]?.relays ?? [])
        .map(({ stream_id, from, to, state }) => `${stream_id} ${from} ${to} ${state}`)
        .sort()
    const up = ['ann north south up', 'bob south north up', 'cam north south up']
    await expect.poll(relays, patient).toEqual(up)

    const visits = await Promise.all([ann.watchPeace('Bob', 'Yard'), bob.watchPeace('Ann', 'Yard')])
    await controllers.kill(first)
    site.controller = (await controllers.leader(first)).headless
    await expect.poll(relays, patient).toEqual(up)
    await expect.poll(ids, patient).toEqual(['ann', 'bob', 'cam'])
    await everybodySees()
    const standstill = await expectPeace(...visits)
    console.info(`pictures of people and a camera on another Janus server stood still for ${standstill} ms at most`)
    // The pages have renewed their requests: the relays last as long as they do.
    for (let seconds = 0; seconds < 36; seconds += 12) await Promise.all([ann.sees('Bob'), bob.sees('Yard', 12 * fps)])
    expect(await relays()).toEqual(up)
    await bob.page.close()
    await expect.poll(relays, { timeout: 40_000 }).toEqual([])
    expect([...ann.problems, ...bob.problems]).toEqual([])
  } finally {
    await site[Symbol.asyncDispose]()
    await controllers.remove()
  }
})
