import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { findRecordings } from '../../server/recordings/index/recorded-files.ts'
import { type Camera, startCamera } from '../support/camera/camera.ts'
import { type Headless, type HeadlessOptions, startHeadless } from '../support/headless.ts'
import { readRecorded } from '../support/recordings/recorded-file.ts'
import { folderHolds } from '../support/recordings/written-media.ts'

/** Controllers that are killed while they record, and start again beside what is left of their recordings. */

vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 })

const settings = { recording: { free_gigabytes: 0.1, free_percent: 0 }, devices: { reconnect_first_ms: 200 } }
const nodes = [{ name: 'here', kind: 'embedded' }]

let camera: Camera
beforeAll(async () => {
  camera = await startCamera({ width: 320, height: 180, gop: 15 })
})
afterAll(async () => await camera.kill())

/** A controller with one camera, which is always recorded. */
async function recordedSite(): Promise<{ site: Headless; roomId: string; recordings: string }> {
  const site = await startHeadless({ site: { nodes, settings } })
  onTestFinished(async () => await rm(site.folder, { recursive: true, force: true }))
  const roomId = (await site.rpc('rooms.create', { topic: 'Yard' })).room_id
  const yard = { roomId, userId: 'yard', userName: 'Yard', userAddress: camera.url('/opus') }
  await expect.poll(async () => (await site.result('devices.create', yard)).ok, { timeout: 60_000 }).toBe(true)
  await site.rpc('recordings.set_rule', { room_id: roomId, user_id: 'yard', rule: { when: 'always' } })
  return { site, roomId, recordings: join(site.folder, 'recordings') }
}

/** Starts a controller anew on the data folder of one that is gone. */
async function restarted({ folder }: Headless, more: HeadlessOptions = {}): Promise<Headless> {
  const site = await startHeadless({ folder, ...more })
  onTestFinished(async () => void (await site.stop('SIGKILL')))
  return site
}

/** Time line of the camera: spans, gaps and ends of segments. */
async function timeLine(site: Headless, roomId: string) {
  const stream = { room_id: roomId, user_id: 'yard' }
  const span = { from: Date.now() - 3_600_000, to: Date.now() + 60_000 }
  const { items } = await site.rpc('recordings.segments', { streams: [stream], ...span })
  const pieces = await site.rpc('recordings.pieces', { stream, ...span })
  return { gaps: items[0]?.gaps ?? [], pieces: pieces.items }
}

const isRecorded = async (site: Headless, roomId: string): Promise<boolean> =>
  (await site.rpc('recordings.states', { room_ids: [roomId] })).items[0]?.recording === true

test.each([
  ['with its index', false],
  ['without its index, which is rebuilt', true],
])(
  'a killed controller that comes back %s has all it recorded, a gap with its reason, and goes on',
  async (_, lost) => {
    const { site, roomId, recordings } = await recordedSite()
    await folderHolds(recordings, 2_000)
    await site.stop('SIGKILL')
    const killedAt = Date.now()
    if (lost) await rm(join(site.folder, 'recordings-index'), { recursive: true })
    const again = await restarted(site)
    await expect.poll(() => isRecorded(again, roomId), { timeout: 60_000 }).toBe(true)
    await expect
      .poll(async () => (await timeLine(again, roomId)).gaps.find(({ reason }) => reason === 'nodeAway'), {
        timeout: 60_000,
      })
      .toMatchObject({ to: expect.any(Number) })
    await folderHolds(recordings, 1_000)
    const { gaps, pieces } = await timeLine(again, roomId)
    const [first, ...later] = pieces
    expect(later.length).toBeGreaterThan(0)
    // At most a group of pictures (0.6 s) and a second before the kill are missing, and nothing is there twice.
    expect(first?.to).toBeGreaterThan(killedAt - 600 - 1_000)
    // The node was away, and then the camera, until it was called again.
    const since = gaps.filter(({ from }) => from >= (first?.to ?? 0))
    const [away] = since
    expect(away).toMatchObject({ from: first?.to, reason: 'nodeAway' })
    for (const [index, { from }] of since.slice(1).entries()) expect(from).toBe(since[index]?.to)
    expect(since.at(-1)?.to).toBe(later[0]?.from)
    await again.stop()
    for await (const { file, isPart } of findRecordings(recordings)) {
      expect(isPart).toBe(false)
      expect((await readRecorded(join(recordings, file))).pictures.length).toBeGreaterThan(0)
    }
    // Once more without the index: the gap and the ends are as they were.
    await rm(join(site.folder, 'recordings-index'), { recursive: true })
    const rebuilt = await restarted(site)
    await expect.poll(async () => (await timeLine(rebuilt, roomId)).gaps, { timeout: 60_000 }).toContainEqual(away)
    const ends = (await timeLine(rebuilt, roomId)).pieces.map(({ from, end }) => [from, end])
    expect(ends).toEqual(
      expect.arrayContaining(pieces.filter(({ end }) => end !== '').map(({ from, end }) => [from, end])),
    )
  },
)

test('a recordings folder that is missing or not writable is reported to the operator, and everything else keeps working', async () => {
  const place = await mkdtemp(join(tmpdir(), 'roomdesk-place-'))
  onTestFinished(async () => await rm(place, { recursive: true, force: true }))
  const site = await startHeadless({ site: { nodes, settings }, flags: ['--recordings-dir', join(place, 'unmounted')] })
  onTestFinished(async () => await site.remove('SIGKILL'))
  const status = async (of: Headless) => await of.rpc('recordings.status', {})
  expect(await status(site)).toMatchObject({
    usable: false,
    problems: [{ code: 'folderMissing', message: expect.stringMatching(/unmounted does not exist\. Mount its disk/) }],
  })
  expect((await site.rpc('overview.get', {})).attention.map(({ code }) => code)).toContain('recordingFolder')
  // Rooms, cameras and people are served as ever.
  const roomId = (await site.rpc('rooms.create', { topic: 'Yard' })).room_id
  const yard = { roomId, userId: 'yard', userName: 'Yard', userAddress: camera.url('/opus') }
  await expect.poll(async () => (await site.result('devices.create', yard)).ok, { timeout: 60_000 }).toBe(true)
  const state = async () => (await site.rpc('devices.list', {})).find(({ userId }) => userId === 'yard')?.state
  await expect.poll(state, { timeout: 30_000 }).toBe('joined')
  expect(await site.result('recordings.start', { room_id: roomId, user_id: 'yard' })).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining('Mount its disk') },
  })
  await site.stop()
  await mkdir(join(place, 'unmounted'))
  const again = await restarted(site, { flags: ['--recordings-dir', join(place, 'unmounted')] })
  expect(await status(again)).toMatchObject({ usable: true, problems: [] })
  await again.stop()
})

test('a recordings folder that is not writable is reported to the operator, and used once it becomes writable', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-place-'))
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'ro,size=300m', 'tmpfs', folder])
  if (mounted.status !== 0) context.skip('a tmpfs cannot be mounted here: the test needs root')
  onTestFinished(() => void spawnSync('umount', ['-l', folder]))
  const flags = ['--recordings-dir', folder]
  const site = await startHeadless({
    site: { nodes, settings: { recording: { free_gigabytes: 0.1, free_percent: 0 } } },
    flags,
  })
  onTestFinished(async () => await site.remove('SIGKILL'))
  expect(await site.rpc('recordings.status', {})).toMatchObject({
    usable: false,
    problems: [{ code: 'folderReadOnly', message: expect.stringMatching(/cannot be written .*restart Roomdesk\.$/) }],
  })
  const roomId = (await site.rpc('rooms.create', { topic: 'Yard' })).room_id
  const yard = { roomId, userId: 'yard', userName: 'Yard', userAddress: camera.url('/opus') }
  await expect.poll(async () => (await site.result('devices.create', yard)).ok, { timeout: 60_000 }).toBe(true)
  await site.rpc('recordings.set_rule', { room_id: roomId, user_id: 'yard', rule: { when: 'always' } })
  await site.stop()
  expect(spawnSync('mount', ['-o', 'remount,rw', folder]).status).toBe(0)
  const again = await restarted(site, { flags })
  await expect.poll(() => isRecorded(again, roomId), { timeout: 60_000 }).toBe(true)
  expect(await again.rpc('recordings.status', {})).toMatchObject({ usable: true, problems: [] })
})
