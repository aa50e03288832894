import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startEncodedCamera } from '../support/camera/encoded-camera.ts'
import { RoomSite, type Visitor } from '../support/sites/room-site.ts'
import { type JanusServer, startJanus } from '../support/janus/janus-server.ts'

/** A site whose only node is a Janus server: the controller's own process serves the page, and media goes straight to Janus. */
let janus: JanusServer
let site: RoomSite
let visitors: Visitor[] = []

beforeAll(async () => {
  // Rooms are guarded: joining and watching need a token.
  const tokenSecret = 'a secret that signs tokens'
  janus = await startJanus({ tokenSecret })
  const node = janus.asNode()
  site = await RoomSite.start({ nodes: [node] })
})
afterEach(async () => {
  for (const visitor of visitors) await visitor.close()
  visitors = []
})
afterAll(async () => {
  await site[Symbol.asyncDispose]()
  await janus[Symbol.asyncDispose]()
})

const join = async (room: string, user_id: string, user_name: string): Promise<Visitor> => {
  const visitor = await site.join(await site.link(room, { user_id, user_name }))
  visitors.push(visitor)
  return visitor
}

const inJanus = (room: string): Promise<string[]> => janus.participants(room)

test('users and a camera of a room on Janus see each other on the room page, and Janus lists them', async () => {
  const room = await site.room({ topic: 'Night shift' })
  await site.camera(room, 'yard', 'Yard', startEncodedCamera)
  const ann = await join(room, 'ann', 'Ann')
  const bob = await join(room, 'bob', 'Bob')
  await Promise.all([ann.sees('Bob'), bob.sees('Ann'), ann.sees('Yard'), bob.sees('Yard')])
  expect(await inJanus(room)).toEqual(['ann', 'bob', 'yard'])
  expect([...ann.problems, ...bob.problems]).toEqual([])

  // A reloaded page is the same user.
  await bob.page.reload()
  await bob.enter()
  await Promise.all([bob.sees('Ann'), bob.sees('Yard')])
  await expect.poll(() => inJanus(room)).toEqual(['ann', 'bob', 'yard'])

  // A user removed by the operator reads so, and leaves Janus.
  await site.controller.rpc('rooms.kick', { room_id: room, user_id: 'ann' })
  await ann.page.getByText('You were removed').waitFor()
  await expect.poll(() => inJanus(room)).not.toContain('ann')
}, 120_000)

test("an operator's preview watches a camera on Janus through the controller, without a participant in the room", async () => {
  const room = await site.room({ topic: 'Only a camera' })
  await site.camera(room, 'gate', 'Gate', startEncodedCamera)
  const window = await site.window('none')
  await window.goto(`${site.controller.ready.node}/room/`)
  const offer = String(
    await window.evaluate(`(async () => {
      const connection = new RTCPeerConnection()
      connection.addTransceiver('video', { direction: 'recvonly' })
      await connection.setLocalDescription()
      return connection.localDescription.sdp
    })()`),
  )
  const watched = await site.controller.rpc('media.watch', { room_id: room, stream_id: 'gate', offer })
  expect(watched.offered).toBe(true)
  const answer = String(
    await window.evaluate(`(async () => {
      globalThis.preview = new RTCPeerConnection()
      await preview.setRemoteDescription({ type: 'offer', sdp: ${JSON.stringify(watched.answer)} })
      await preview.setLocalDescription()
      return preview.localDescription.sdp
    })()`),
  )
  await site.controller.rpc('media.answer', { room_id: room, session: watched.session, answer })
  const frames = `(async () => {
    for (const report of (await preview.getStats()).values()) if (report.kind === 'video') return report.framesDecoded ?? 0
    return 0
  })()`
  await expect.poll(() => window.evaluate(frames), { timeout: 10_000 }).toBeGreaterThan(3)
  expect((await site.controller.rpc('rooms.get', { room_id: room })).users.map(({ user_id }) => user_id)).toEqual([
    'gate',
  ])
  await site.controller.rpc('media.unwatch', { room_id: room, session: watched.session })
}, 60_000)

test('Janus dies and returns: users read that they will be reconnected, and are', async () => {
  const room = await site.room({ topic: 'Outage' })
  const ann = await join(room, 'ann', 'Ann')
  const bob = await join(room, 'bob', 'Bob')
  await Promise.all([ann.sees('Bob'), bob.sees('Ann')])
  const began = performance.now()
  // Waits from the start: the notice may be gone before the test checks.
  await Promise.all([ann.page.getByText('Restarting. You will be reconnected').waitFor(), janus.restart()])
  await expect.poll(() => inJanus(room), { timeout: 30_000 }).toEqual(['ann', 'bob'])
  await Promise.all([ann.sees('Bob'), bob.sees('Ann')])
  console.info(`people see each other again ${((performance.now() - began) / 1_000).toFixed(1)} s after Janus died`)
}, 120_000)
