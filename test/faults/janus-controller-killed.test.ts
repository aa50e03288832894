import { expect, test } from 'vitest'
import { startCamera } from '../support/camera/camera.ts'
import { type Headless, removeFolder, startHeadless } from '../support/headless.ts'
import { startJanus } from '../support/janus/janus-server.ts'
import { JanusViewer } from '../support/janus/janus-viewer.ts'

const deaths = 20
const fps = 15

test('the controller is killed repeatedly while a camera is watched through Janus: no picture is missing', async () => {
  await using camera = await startCamera({ fps })
  await using janus = await startJanus()
  const node = janus.asNode()
  let controller: Headless = await startHeadless({ site: { nodes: [node] } })
  const { folder } = controller
  try {
    const { room_id: roomId } = await controller.rpc('rooms.create', { topic: 'yard' })
    const userAddress = camera.url('/stream1')
    await controller.rpc('devices.create', { roomId, userId: 'cam', userName: 'Yard', userAddress, join: 'required' })
    await using viewer = await JanusViewer.watch(janus, roomId, 'cam')
    const began = performance.now()
    for (let death = 1; death <= deaths; death++) {
      await controller.stop('SIGKILL')
      controller = await startHeadless({ folder })
      // It has found the camera, and may die again.
      await expect
        .poll(async () => (await controller.rpc('devices.list', {}))[0]?.state, { timeout: 15_000, interval: 20 })
        .toBe('joined')
    }
    const { frames, lost, maxStep, maxGap } = viewer.watched
    const seconds = (performance.now() - began) / 1_000
    console.log(`${deaths} deaths in ${seconds.toFixed(1)} s: ${frames} frames, longest gap ${maxGap} ms`)
    expect(lost).toBe(0)
    // Each frame directly follows its predecessor by capture time.
    expect(maxStep).toBeLessThan(1.5 * (1_000 / fps))
    expect(frames).toBeGreaterThan(0.9 * fps * seconds)
    expect(maxGap).toBeLessThan(500)
    expect((await controller.rpc('devices.history', { userId: 'cam' })).length).toBeLessThanOrEqual(1)
    const participants = async () =>
      (await janus.ask('videoroom', { request: 'listparticipants', room: roomId })).participants
    expect(await participants()).toMatchObject([{ id: 'cam', publisher: true }])
    // The last controller controls the camera: a camera that merely ran on would stay.
    await controller.rpc('devices.remove', { userIds: ['cam'] })
    expect(await participants()).toEqual([])
  } finally {
    await controller.stop('SIGKILL')
    await removeFolder(folder)
  }
})
