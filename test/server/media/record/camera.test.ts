import { stat } from 'node:fs/promises'
import { expect, test, vi } from 'vitest'
import { startCamera } from '../../../support/camera/camera.ts'
import type { Segment } from '../../../../shared/recordings/segment.ts'
import { decodeRecorded, readRecorded } from '../../../support/recordings/recorded-file.ts'
import { RecordingNode } from '../../../support/recordings/recording-node.ts'
import { shared } from '../../../support/fixtures.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 45_000 })

const camera = shared(() => startCamera({ width: 320, height: 180, gop: 15 }))
const recording = shared(() => RecordingNode.start({ settings: { transcoders: 0 } }))

/** Records a mount of the camera until so much of it is on the disk, in milliseconds. */
async function record(mount: string, ms: number): Promise<Segment[]> {
  const roomId = `room-${mount}`
  await recording().node.openRoom(roomId)
  await recording().order(roomId, { cameras: [{ userId: 'cam', quality: 'main' }] })
  await recording().node.addDevice(roomId, 'cam', camera().url(mount))
  await recording().began(roomId)
  await recording().holds(roomId, ms)
  return await recording().finished(roomId)
}

/** Codecs of what a camera sends at its mounts. */
const mounts = new Map([
  ['/opus', ['h264', 'opus']],
  ['/aac', ['h264', 'aac']],
  ['/latm', ['h264', 'aac']],
  ['/cam', ['h264', 'flac']],
  ['/pcma', ['h264', 'flac']],
  ['/video', ['h264']],
  ['/h265', ['hevc']],
  ['/bframes', ['h264']],
])

test('cameras without viewers are recorded as they send, in any format', async () => {
  const all = await Promise.all(
    Array.from(mounts, async ([mount, codecs]) => ({ mount, codecs, segments: await record(mount, 2_700) })),
  )
  for (const { mount, codecs, segments } of all) {
    // The first reports of the camera may bring picture and sound closer together.
    expect(segments.map(({ end }) => end).filter((end) => end !== 'clock')).toEqual(['stopped'])
    const lengthOf = ({ startedAt, endedAt }: Segment): number => endedAt - startedAt
    const [segment = expect.fail('no segment')] = segments.toSorted((a, b) => lengthOf(b) - lengthOf(a))
    const path = recording().path(segment)
    const file = await readRecorded(path)
    expect(file.codecs, mount).toEqual(codecs)
    expect(file, mount).toMatchObject({ width: 320, height: 180 })
    expect(file.duration, mount).toBeGreaterThan(2.5)
    expect(file.pictures.length, mount).toBeGreaterThan(35)
    expect(file.pictures[0]?.key, mount).toBe(true)
    if (codecs.length > 1) {
      expect(file.sounds.at(-1)?.at, mount).toBeGreaterThan(2)
      expect(file.sounds[0]?.at, mount).toBeLessThan(0.2)
    }
    await decodeRecorded(path)
    const { endedAt: _, bytes: __, end: ___, ...start } = segment
    expect(file.comment).toEqual(start)
    expect(Math.abs(segment.endedAt - start.startedAt - file.duration * 1_000), mount).toBeLessThan(200)
  }
})

test('the substream is pulled for its recording, in addition to the main stream', async () => {
  await recording().node.openRoom('both')
  await recording().order('both', { cameras: [{ userId: 'cam', quality: 'substream' }] })
  await recording().node.addDevice('both', 'cam', camera().url('/stream1'), { assistAddress: camera().url('/stream2') })
  await recording().began('both')
  await recording().holds('both', 1_000)
  const [segment = expect.fail('no segment')] = await recording().finished('both')
  expect(segment).toMatchObject({ quality: 'substream', width: 160, height: 90 })
  expect(segment.file).toContain('~substream/')
  expect(await readRecorded(recording().path(segment))).toMatchObject({ width: 160, height: 90 })
})

test('a recording that starts again at a picture that is already recorded replaces no file', async () => {
  const cameras = [{ userId: 'cam', quality: 'main' as const }]
  await recording().node.openRoom('again')
  await recording().node.addDevice('again', 'cam', camera().url('/video'))
  for (let round = 1; round <= 6; round++) {
    await recording().order('again', { cameras })
    await recording().began('again', round)
    await recording().finished('again')
  }
  const files = recording()
    .segments('again')
    .filter(({ bytes }) => bytes > 0)
  expect(files.length).toBeGreaterThan(1)
  expect(new Set(files.map(({ file }) => file)).size).toBe(files.length)
  for (const each of files) expect((await stat(recording().path(each))).size).toBe(each.bytes)
})

test('an unreachable camera, and a removed one, leave gaps with their reason', async () => {
  await recording().node.openRoom('away')
  await recording().order('away', { cameras: [{ userId: 'cam', quality: 'main' }] })
  await expect.poll(() => recording().gaps('away')).toMatchObject([{ userId: 'cam', reason: 'away', to: null }])
  await recording().node.addDevice('away', 'cam', camera().url('/video'))
  await recording().began('away')
  await recording().node.request('remove_device', { roomId: 'away', userId: 'cam' })
  await expect.poll(() => recording().segments('away')).toMatchObject([{ end: 'left' }])
  expect(recording().gaps('away')).toHaveLength(2)
  await recording().node.addDevice('away', 'cam', camera().url('/video'))
  await recording().began('away', 2)
  await recording().finished('away')
})
