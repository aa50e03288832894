import { expect, onTestFinished, test } from 'vitest'
import { type Pacing, startPacedCamera } from '../../support/camera/paced-camera.ts'
import { MediaSite } from '../../support/sites/media-site.ts'
import { shared } from '../../support/fixtures.ts'

const site = shared(() => MediaSite.start())
const roomId = shared(async () => (await site().rpc('rooms.create', { topic: 'Yard' })).room_id)

/** Adds a camera until the end of the test. */
async function join(userName: string, clock: Pacing['clock']): Promise<void> {
  const camera = await startPacedCamera({ packets: 1, everyMs: 20, gop: 5, ...(clock !== undefined && { clock }) })
  const { userId } = await site().rpc('devices.create', { roomId: roomId(), userName, userAddress: camera.url })
  onTestFinished(async () => {
    await site().rpc('devices.remove', { userIds: [userId] })
    await camera[Symbol.asyncDispose]()
  })
  await expect
    .poll(async () => (await site().rpc('devices.list', {})).find((one) => one.userId === userId)?.state)
    .toBe('joined')
}

const result = async () => (await site().rpc('readiness.run', { checks: ['cameraClocks'] })).results[0]
const finding = async () => (await result())?.finding

test('without a camera, nothing needs attention', async () => {
  expect(await result()).toMatchObject({ state: 'good', finding: 'cameraClocksNone' })
})

test('cameras with a wrong time are named, the worst first, with the remedy', async () => {
  await join('Gate', -185_000)
  await join('Yard', 3_600_000)
  await join('Door', 0)
  await expect.poll(async () => (await result())?.values).toMatchObject({ count: 2 })
  expect(await result()).toMatchObject({
    state: 'attention',
    finding: 'cameraClocksDiffer',
    values: { cameras: expect.stringMatching(/^Yard \+(1:00:00|0:59:59), Gate −0:03:0[56]$/) },
    advice: expect.stringContaining('NTP'),
  })
})

test('correct cameras are counted; cameras whose clock counts from their start, or is unknown, are not', async () => {
  await join('Silent', undefined)
  await join('Uptime', 'uptime')
  expect(await finding()).toBe('cameraClocksUnknown')
  await join('Door', 400)
  await expect.poll(result).toMatchObject({ finding: 'cameraClocksAgree', values: { count: 1 } })
})
