import { expect, test } from 'vitest'
import { RoomSite, type Visitor } from '../e2e/room-page-visit.ts'
import { startCamera } from '../support/camera/camera.ts'
import { ControllersSite } from '../support/controllers/controllers-site.ts'
import { startJanus } from '../support/janus/janus-server.ts'
import { JanusViewer } from '../support/janus/janus-viewer.ts'
import { RoomPeer } from '../support/janus/room-peers.ts'

const fps = 15
/** Pictures that stand still for less are those of a busy machine, in milliseconds. */
const unnoticedMs = 600
/** From the loss of the leader until a word of somebody in the room reaches the others again, in milliseconds. */
const backMs = 5_000

test('the leader is killed while a room is on a Janus server: whoever is in it notices nothing, by whatever way they came, and the next leader has everybody and the camera in hand', async () => {
  await using camera = await startCamera({ fps })
  await using janus = await startJanus()
  const controllers = await ControllersSite.start({ nodes: [janus.asNode()] })
  const first = await controllers.leader()
  const site = RoomSite.at(first.headless)
  try {
    const room = await site.room({ topic: 'Yard' })
    const userAddress = camera.url('/stream1')
    const device = { roomId: room, userId: 'cam', userName: 'Yard', userAddress, join: 'required' } as const
    await site.controller.rpc('devices.create', device)
    await using viewer = await JanusViewer.watch(janus, room, 'cam')
    const dan = await RoomPeer.join(janus, room, 'dan')
    await dan.until('cam')
    let cameraLeft = false
    const watchCamera = dan.until('cam', false).then(() => {
      cameraLeft = true
    })
    const join = async (user_id: string, user_name: string): Promise<Visitor> =>
      await site.join(await site.link(room, { user_id, user_name }))
    const [ann, bo] = [await join('ann', 'Ann'), await join('bo', 'Bo')]
    await Promise.all([ann.sees('Bo'), bo.sees('Ann'), ann.sees('Yard'), bo.sees('Yard')])
    const ids = async () =>
      (await site.controller.rpc('rooms.get', { room_id: room })).users.map(({ user_id }) => user_id).sort()
    await expect.poll(ids).toEqual(['ann', 'bo', 'cam', 'dan'])

    const watched = await Promise.all([ann.watchStandstill('Bo', 'Yard'), bo.watchStandstill('Ann', 'Yard')])
    const told = await Promise.all([ann.watchWords(), bo.watchWords()])
    await ann.button('Chat').click()
    await bo.button('Chat').click()
    await ann.says('Before')
    await bo.reads('Before')
    const began = performance.now()
    await controllers.kill(first)
    await ann.says('After')
    await bo.reads('After')
    const connected = Math.round(performance.now() - began)
    await Promise.all([ann.sees('Bo'), bo.sees('Ann'), ann.sees('Yard'), bo.sees('Yard')])
    const standstill = Math.max(...(await Promise.all(watched.map((longest) => longest()))))
    const { frames, lost, longestStep, longestGap } = viewer.watched
    console.info(
      `what people say is told again after ${connected} ms, pictures of the page stood still for ${standstill} ms at most; of ${frames} frames for Janus's own client the longest gap was ${longestGap} ms`,
    )
    expect(connected).toBeLessThan(backMs)
    expect(standstill).toBeLessThan(unnoticedMs)
    expect((await Promise.all(told.map((words) => words()))).flat()).toEqual([])
    expect(lost).toBe(0)
    // As the camera took them: each a frame after the one before.
    expect(longestStep).toBeLessThan(1.5 * (1_000 / fps))

    site.controller = (await controllers.leader(first)).headless
    await expect.poll(ids, { timeout: 10_000 }).toEqual(['ann', 'bo', 'cam', 'dan'])
    await expect.poll(async () => (await site.controller.rpc('devices.list', {}))[0]?.state).toBe('joined')
    // The camera is the one that it was: nobody saw it go.
    expect(cameraLeft).toBe(false)
    expect(await janus.participants(room)).toEqual(['ann', 'bo', 'cam', 'dan'])
    expect([...ann.problems, ...bo.problems]).toEqual([])
    // The next leader has it in hand: a camera that merely went on by itself would stay.
    await site.controller.rpc('devices.remove', { userIds: ['cam'] })
    await watchCamera
    await dan.leave()
  } finally {
    await site[Symbol.asyncDispose]()
    await controllers.remove()
  }
}, 180_000)
