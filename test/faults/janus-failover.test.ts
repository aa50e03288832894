import { expect, test } from 'vitest'
import { startEncodedCamera } from '../support/camera/encoded-camera.ts'
import { expectPeace, RoomSite, type Visitor } from '../support/sites/room-site.ts'
import { startCamera } from '../support/camera/camera.ts'
import { ControllersSite } from '../support/sites/controllers-site.ts'
import { handOver } from '../support/controllers/hand-over.ts'
import { startJanus } from '../support/janus/janus-server.ts'
import { JanusViewer } from '../support/janus/janus-viewer.ts'
import { RoomPeer } from '../support/janus/room-peers.ts'

const fps = 15
/** Maximum time from the loss of the leader until a chat message reaches the others again, in milliseconds. */
const backMs = 5_000

test('the leader is killed while a room is on a Janus server: nobody in the room notices, and the next leader controls all participants and the camera', async () => {
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

    const visits = await Promise.all([ann.watchPeace('Bo', 'Yard'), bo.watchPeace('Ann', 'Yard')])
    const goesOn = async (begin: () => Promise<void>, line: string): Promise<number> => {
      const began = performance.now()
      await begin()
      await ann.says(line)
      await bo.reads(line)
      const ms = Math.round(performance.now() - began)
      await Promise.all([ann.sees('Bo'), bo.sees('Ann'), ann.sees('Yard'), bo.sees('Yard')])
      return ms
    }
    await ann.button('Chat').click()
    await bo.button('Chat').click()
    await goesOn(async () => {}, 'Before')
    const killed = await goesOn(() => controllers.kill(first), 'One is killed')
    const second = await controllers.leader(first)
    const handedOver = await goesOn(async () => {
      const other = controllers.controllers.find((one) => one !== first && one !== second)
      if (other !== undefined) await handOver(controllers, second, other)
    }, 'Another one leads by hand')
    const standstill = await expectPeace(...visits)
    const { frames, lost, maxStep, maxGap } = viewer.watched
    console.info(
      `chat is back after ${killed} ms (killed) and ${handedOver} ms (by hand), pictures of the page stood still for ${standstill} ms at most; of ${frames} frames for Janus's own client the longest gap was ${maxGap} ms`,
    )
    expect(Math.max(killed, handedOver)).toBeLessThan(backMs)
    expect(lost).toBe(0)
    // Each frame directly follows its predecessor by capture time.
    expect(maxStep).toBeLessThan(1.5 * (1_000 / fps))

    site.controller = (await controllers.leader(second)).headless
    await expect.poll(ids, { timeout: 10_000 }).toEqual(['ann', 'bo', 'cam', 'dan'])
    await expect.poll(async () => (await site.controller.rpc('devices.list', {}))[0]?.state).toBe('joined')
    // The camera is still the same: nobody saw it leave.
    expect(cameraLeft).toBe(false)
    expect(await janus.participants(room)).toEqual(['ann', 'bo', 'cam', 'dan'])
    expect([...ann.problems, ...bo.problems]).toEqual([])
    // The new leader controls their sessions: otherwise they could not restart ICE, and would stay on the old network.
    const restarts: number[] = []
    ann.page.on('response', (response) => {
      if (response.request().method() === 'PATCH') restarts.push(response.status())
    })
    await ann.page.evaluate("void window.dispatchEvent(new Event('online'))")
    // The stream she sends, and two that she watches.
    await expect.poll(() => restarts, { timeout: 10_000 }).toEqual([200, 200, 200])
    await Promise.all([ann.sees('Bo', 30), ann.sees('Yard', 30), bo.sees('Ann', 30)])
    await site.controller.rpc('devices.remove', { userIds: ['cam'] })
    await watchCamera
    await site.controller.rpc('rooms.kick', { room_id: room, user_id: 'bo' })
    await bo.page.getByText('You were removed from the room').first().waitFor()
    await ann.tile('Bo').waitFor({ state: 'detached' })
    expect(await janus.participants(room)).toEqual(['ann', 'dan'])
    await dan.leave()
  } finally {
    await site[Symbol.asyncDispose]()
    await controllers.remove()
  }
}, 180_000)

test('the leader freezes: users keep seeing each other and a camera, and get no notice', async () => {
  await using janus = await startJanus()
  const controllers = await ControllersSite.start({ nodes: [janus.asNode()] })
  const first = await controllers.leader()
  const site = RoomSite.at(first.headless)
  try {
    const room = await site.room({ topic: 'Yard' })
    await site.camera(room, 'cam', 'Yard', startEncodedCamera)
    const join = async (user_id: string, user_name: string): Promise<Visitor> =>
      await site.join(await site.link(room, { user_id, user_name }))
    const [ann, bo] = [await join('ann', 'Ann'), await join('bo', 'Bo')]
    await Promise.all([ann.sees('Bo'), bo.sees('Ann'), ann.sees('Yard'), bo.sees('Yard')])
    const visits = [await ann.watchPeace('Bo', 'Yard'), await bo.watchPeace('Ann', 'Yard')]
    for (const visitor of [ann, bo]) await visitor.button('Chat').click()
    controllers.freeze(first, true)
    const began = performance.now()
    // Their pages detect the frozen leader by its silence; messages sent to it are lost.
    for (let line = 1; (await bo.page.getByRole('log').getByText(/^Line/).count()) === 0; line++) {
      await ann.says(`Line ${line}`)
      await ann.sees('Bo', 10)
    }
    const took = performance.now() - began
    await Promise.all([ann.sees('Bo'), bo.sees('Ann'), ann.sees('Yard'), bo.sees('Yard')])
    controllers.freeze(first, false)
    await Promise.all([ann.sees('Bo', 30), bo.sees('Ann', 30), ann.sees('Yard', 30), bo.sees('Yard', 30)])
    const standstill = await expectPeace(...visits)
    console.info(
      `chat is back ${Math.round(took)} ms after the leader froze; pictures stood still for ${standstill} ms at most`,
    )
    await expect.poll(() => janus.participants(room)).toEqual(['ann', 'bo', 'cam'])
  } finally {
    await site[Symbol.asyncDispose]()
    await controllers.remove()
  }
}, 180_000)
