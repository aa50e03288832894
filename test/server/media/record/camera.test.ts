import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Camera, startCamera } from '../../../support/camera/camera.ts'
import type { Segment } from '../../../../shared/recordings/segment.ts'
import { decodeRecorded, readRecorded } from '../../../support/recordings/recorded-file.ts'
import { mediaTime, RecordingNode } from '../../../support/recordings/recording-node.ts'
import { beeps, flashes } from '../../../support/recordings/lip-sync.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 45_000 })

let camera: Camera
let recording: RecordingNode
beforeAll(async () => {
  ;[camera, recording] = await Promise.all([
    startCamera({ width: 320, height: 180, gop: 15 }),
    RecordingNode.start({ settings: { transcoders: 0 } }),
  ])
})
afterAll(async () => {
  await camera.kill()
  await recording[Symbol.asyncDispose]()
})

/** Records a mount of the camera for some seconds. */
async function record(mount: string, ms = 5_000): Promise<Segment[]> {
  const roomId = `room-${mount}`
  await recording.node.openRoom(roomId)
  await recording.order(roomId, { cameras: [{ userId: 'cam', quality: 'main' }] })
  await recording.node.addDevice(roomId, 'cam', camera.url(mount))
  await recording.began(roomId)
  await mediaTime(ms)
  return await recording.finished(roomId)
}

describe('a camera that nobody watches is recorded as it sends', () => {
  test.each([
    ['/opus', ['h264', 'opus']],
    ['/aac', ['h264', 'aac']],
    ['/latm', ['h264', 'aac']],
    ['/cam', ['h264', 'flac']],
    ['/pcma', ['h264', 'flac']],
    ['/video', ['h264']],
    ['/h265', ['hevc']],
    ['/bframes', ['h264']],
  ])('%s', async (mount, codecs) => {
    const segments = await record(mount)
    // The first reports of the camera may bring picture and sound closer together.
    expect(segments.map(({ end }) => end).filter((end) => end !== 'clock')).toEqual(['stopped'])
    const lengthOf = ({ startedAt, endedAt }: Segment): number => endedAt - startedAt
    const [segment = expect.fail('no segment')] = segments.toSorted((a, b) => lengthOf(b) - lengthOf(a))
    const path = recording.path(segment)
    const file = await readRecorded(path)
    expect(file.codecs).toEqual(codecs)
    expect(file).toMatchObject({ width: 320, height: 180 })
    expect(file.duration).toBeGreaterThan(2.5)
    expect(file.pictures.length).toBeGreaterThan(35)
    expect(file.pictures[0]?.key).toBe(true)
    if (codecs.length > 1) {
      expect(file.sounds.at(-1)?.at).toBeGreaterThan(2)
      expect(file.sounds[0]?.at).toBeLessThan(0.2)
    }
    await decodeRecorded(path)
    const { endedAt: _, bytes: __, end: ___, ...start } = segment
    expect(file.comment).toEqual(start)
    expect(Math.abs(segment.endedAt - start.startedAt - file.duration * 1_000)).toBeLessThan(200)
  })
})

/** Time from the tick of the camera to its flash, in seconds: what GStreamer gives to its encoders. */
const tickToFlash = 0.303

test('flash and beep of a camera stay together, though its pictures come half a second later', async () => {
  const segments = await record('/sync', 9_000)
  const path = recording.path(segments.at(-1) ?? expect.fail('no segment'))
  const [seen, heard] = [await flashes(path), await beeps(path)]
  expect(seen.length).toBeGreaterThan(3)
  const off = seen
    .flatMap((flash) => heard.map((beep) => flash - beep - tickToFlash))
    .filter((apart) => Math.abs(apart) < 0.4)
  expect(off.length).toBeGreaterThan(3)
  expect(Math.max(...off.map(Math.abs)), JSON.stringify({ seen, heard })).toBeLessThan(0.04)
})

test('the substream is pulled for its recording, and the main stream too', async () => {
  await recording.node.openRoom('both')
  await recording.order('both', { cameras: [{ userId: 'cam', quality: 'substream' }] })
  await recording.node.addDevice('both', 'cam', camera.url('/stream1'), { assistAddress: camera.url('/stream2') })
  await recording.began('both')
  await mediaTime(3_000)
  const [segment = expect.fail('no segment')] = await recording.finished('both')
  expect(segment).toMatchObject({ quality: 'substream', width: 160, height: 90 })
  expect(segment.file).toContain('~substream/')
  expect(await readRecorded(recording.path(segment))).toMatchObject({ width: 160, height: 90 })
})

test('a camera that is away, and one that was removed, leave gaps with their reason', async () => {
  await recording.node.openRoom('away')
  await recording.order('away', { cameras: [{ userId: 'cam', quality: 'main' }] })
  await expect.poll(() => recording.gaps('away')).toMatchObject([{ userId: 'cam', reason: 'away', to: null }])
  await recording.node.addDevice('away', 'cam', camera.url('/video'))
  await recording.began('away')
  await recording.node.request('remove_device', { roomId: 'away', userId: 'cam' })
  await expect.poll(() => recording.segments('away')).toMatchObject([{ end: 'left' }])
  expect(recording.gaps('away')).toHaveLength(2)
  await recording.node.addDevice('away', 'cam', camera.url('/video'))
  await recording.began('away', 2)
  await recording.finished('away')
})
