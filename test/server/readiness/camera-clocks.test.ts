import { expect, onTestFinished, test } from 'vitest'
import { type PacedCamera, startPacedCamera } from '../../support/camera/paced-camera.ts'
import { startTestCamera } from '../../support/camera/test-camera.ts'
import { MediaSite } from '../../support/sites/media-site.ts'
import { shared } from '../../support/fixtures.ts'

const site = shared(() => MediaSite.start())
const roomId = shared(async () => (await site().rpc('rooms.create', { topic: 'Yard' })).room_id)

/** Adds a camera until the end of the test. */
async function join(userName: string, camera: PacedCamera): Promise<void> {
  const { userId } = await site().rpc('devices.create', { roomId: roomId(), userName, userAddress: camera.url })
  onTestFinished(async () => {
    await site().rpc('devices.remove', { userIds: [userId] })
    await camera[Symbol.asyncDispose]()
  })
  await expect
    .poll(async () => (await site().rpc('devices.list', {})).find((one) => one.userId === userId)?.state)
    .toBe('joined')
}

/** Starts a camera whose clock is ahead of ours by this many seconds. */
const ahead = (seconds: number) => startTestCamera({ behaviours: [`wrong-clock=${seconds}`] })
const pacing = { packets: 1, everyMs: 20, gop: 5 }

const result = async () => (await site().rpc('readiness.run', { checks: ['cameraClocks'] })).results[0]
const finding = async () => (await result())?.finding

test('without a camera, nothing needs attention', async () => {
  expect(await result()).toMatchObject({ state: 'good', finding: 'cameraClocksNone' })
})

test('cameras with a wrong time are named, the worst first, with the remedy', async () => {
  await join('Gate', await ahead(-185))
  await join('Yard', await ahead(3_600))
  await join('Door', await ahead(0))
  await expect.poll(async () => (await result())?.values).toMatchObject({ count: 2 })
  expect(await result()).toMatchObject({
    state: 'attention',
    finding: 'cameraClocksDiffer',
    values: { cameras: expect.stringMatching(/^Yard \+(1:00:00|0:59:59), Gate −0:03:0[56]$/) },
    advice: expect.stringContaining('NTP'),
  })
})

test('correct cameras are counted; cameras whose clock counts from their start, or is unknown, are not', async () => {
  await join('Silent', await startPacedCamera(pacing))
  await join('Uptime', await startPacedCamera({ ...pacing, tellsUptime: true }))
  expect(await finding()).toBe('cameraClocksUnknown')
  await join('Door', await ahead(1))
  await expect.poll(result).toMatchObject({ finding: 'cameraClocksAgree', values: { count: 1 } })
})
