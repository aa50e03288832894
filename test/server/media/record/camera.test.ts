import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { RecorderEvent, RecordingOrder, Segment } from '../../../../shared/recordings/segment.ts'
import { type Camera, startCamera } from '../../../support/camera/camera.ts'
import { TestMediaNode } from '../../../support/media/media-node.ts'
import { decodeRecorded, readRecorded } from '../../../support/recordings/recorded-file.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 45_000 })

let folder: string
let camera: Camera
let node: TestMediaNode
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roomdesk-recordings-'))
  ;[camera, node] = await Promise.all([
    startCamera({ width: 320, height: 180, gop: 15 }),
    TestMediaNode.start({ recordings: folder, settings: { transcoders: 0 } }),
  ])
})
afterAll(async () => {
  await Promise.all([camera.kill(), node.stop()])
  await rm(folder, { recursive: true })
})

const order = (roomId: string, more: Partial<RecordingOrder> = {}): RecordingOrder => ({
  roomId,
  everything: false,
  cameras: [{ userId: 'cam', quality: 'main' }],
  people: [],
  ...more,
})
const events = (roomId: string): RecorderEvent[] =>
  node.events.flatMap((event) => {
    if (event.type !== 'recorder') return []
    const about = event.event.type === 'recordingGap' ? event.event.gap : event.event.segment
    return about.roomId === roomId ? [event.event] : []
  })
const ended = (roomId: string): Segment[] =>
  events(roomId).flatMap((event) => (event.type === 'segmentEnded' ? [event.segment] : []))

/** Records a mount of the camera for some seconds. */
async function record(mount: string, ms = 5_000): Promise<Segment[]> {
  const roomId = `room-${mount}`
  await node.openRoom(roomId)
  await node.request('set_recording', order(roomId))
  await node.addDevice(roomId, 'cam', camera.url(mount))
  await expect.poll(() => events(roomId).some(({ type }) => type === 'segmentBegan'), { timeout: 15_000 }).toBe(true)
  const began = Date.now()
  await expect.poll(() => Date.now() - began, { timeout: 30_000, interval: 200 }).toBeGreaterThan(ms)
  await node.request('set_recording', order(roomId, { cameras: [] }))
  await expect.poll(() => ended(roomId).at(-1)?.end, { timeout: 10_000 }).toBe('stopped')
  return ended(roomId)
}

describe('a camera that nobody watches is recorded as it sends', () => {
  test.each([
    ['/opus', ['h264', 'opus']],
    ['/video', ['h264']],
    ['/h265', ['hevc']],
    ['/bframes', ['h264']],
  ])('%s', async (mount, codecs) => {
    const segments = await record(mount)
    expect(segments.length, JSON.stringify(segments)).toBe(1)
    const [segment] = segments
    const path = join(folder, segment?.file ?? '')
    const file = await readRecorded(path)
    expect(file.codecs).toEqual(codecs)
    expect(file).toMatchObject({ width: 320, height: 180 })
    expect(file.duration).toBeGreaterThan(4)
    expect(file.pictures.length).toBeGreaterThan(50)
    expect(file.pictures[0]?.key).toBe(true)
    await decodeRecorded(path)
    const { endedAt: _, bytes: __, end: ___, ...start } = segment ?? expect.fail('no segment')
    expect(file.comment).toEqual(start)
    expect(Math.abs((segment?.endedAt ?? 0) - start.startedAt - file.duration * 1_000)).toBeLessThan(100)
  })
})
