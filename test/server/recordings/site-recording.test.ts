import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Camera, startCamera } from '../../support/camera/camera.ts'
import { MediaSite } from '../../support/sites/media-site.ts'

vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 })

let recordings: string
let camera: Camera
let site: MediaSite
let roomId: string

beforeAll(async () => {
  recordings = await mkdtemp(join(tmpdir(), 'roomdesk-recordings-'))
  ;[camera, site] = await Promise.all([
    startCamera({ width: 320, height: 180, gop: 15 }),
    MediaSite.start({ recordings, settings: { recording: { free_gigabytes: 0.1, free_percent: 0 } } }),
  ])
  roomId = (await site.rpc('rooms.create', { topic: 'Yard' })).room_id
  await site.join(roomId, 'yard', camera.url('/opus'))
})
afterAll(async () => {
  await Promise.all([camera.kill(), site[Symbol.asyncDispose]()])
  await rm(recordings, { recursive: true })
})

const stream = () => ({ room_id: roomId, user_id: 'yard' })
const target = async () => (await site.rpc('recordings.states', { room_ids: [roomId] })).items[0]
const timeLine = async () => {
  const { items } = await site.rpc('recordings.segments', {
    streams: [stream()],
    from: Date.now() - 3_600_000,
    to: Date.now() + 60_000,
  })
  return items[0] ?? { spans: [], gaps: [] }
}
const kinds = async () =>
  (await site.rpc('events.list', { groups: ['recordings'] })).items.map(({ kind, actor, params }) => [
    kind,
    actor.type,
    params.by,
  ])

test('an operator starts and stops the recording of a camera, and both are in the event log', async () => {
  const started = await site.rpc('recordings.start', stream())
  expect(started).toMatchObject({ ...stream(), by: 'operator', device: true, topic: 'Yard' })
  await expect.poll(async () => (await target())?.recording, { timeout: 20_000 }).toBe(true)
  expect(await timeLine()).toMatchObject({ spans: [{ open: true }] })
  expect(await site.rpc('recordings.status', {})).toMatchObject({ usable: true, streams: 1, problems: [] })
  expect(await site.rpc('recordings.stop', stream())).toEqual({ stopped: true })
  await expect.poll(async () => (await timeLine()).spans, { timeout: 20_000 }).toMatchObject([{ open: false }])
  expect(await site.rpc('recordings.sources', {})).toMatchObject({
    total: 1,
    items: [{ ...stream(), device: true, recording: false, exists: true, segments: 1 }],
  })
  await expect.poll(kinds).toEqual([
    ['recording.stopped', 'operator', 'operator'],
    ['recording.started', 'operator', 'operator'],
  ])
})

test('a rule records for good; a lost process leaves a repaired segment and a gap', async () => {
  await site.rpc('recordings.set_rule', { ...stream(), rule: { when: 'always' } })
  await expect.poll(async () => (await target())?.recording, { timeout: 20_000 }).toBe(true)
  // Some fragments have to be on the disk before the process is lost.
  await expect.poll(async () => (await timeLine()).spans.at(-1)?.open, { timeout: 20_000 }).toBe(true)
  const since = Date.now()
  await expect.poll(() => Date.now() - since, { timeout: 20_000 }).toBeGreaterThan(4_000)
  process.kill(site.pid, 'SIGKILL')
  await expect
    .poll(async () => (await timeLine()).gaps, { timeout: 40_000 })
    .toContainEqual({ from: expect.any(Number), to: expect.any(Number), reason: 'nodeAway' })
  await expect.poll(async () => (await target())?.recording, { timeout: 20_000 }).toBe(true)
  const pieces = await site.rpc('recordings.pieces', { stream: stream(), from: since - 60_000, to: Date.now() })
  expect(pieces.items.map(({ end }) => end)).toContain('cut')
  expect(await site.rpc('recordings.stop', stream())).toEqual({ stopped: false })
})

test('a kept span survives a deletion, and its files stay', async () => {
  await site.rpc('recordings.set_rule', { ...stream(), rule: { when: 'never' } })
  await expect.poll(async () => (await site.rpc('recordings.status', {})).streams, { timeout: 20_000 }).toBe(0)
  const whole = { streams: [stream()], from: Date.now() - 3_600_000, to: Date.now() + 60_000 }
  const pieces = await site.rpc('recordings.pieces', { stream: stream(), from: whole.from, to: whole.to })
  const [first] = pieces.items
  if (first === undefined) throw new Error('nothing was recorded')
  const kept = await site.rpc('recordings.keep', { ...whole, from: first.from, to: first.from + 1, note: 'Delivery' })
  expect(kept.segments).toBe(1)
  expect(await site.rpc('recordings.delete', whole)).toMatchObject({ segments: pieces.items.length - 1, kept: 1 })
  const files = async (): Promise<string[]> =>
    (await readdir(recordings, { recursive: true })).filter((file) => /\.(mp4|webm)$/.test(file))
  await expect.poll(files).toHaveLength(1)
  await site.rpc('recordings.unkeep', { id: kept.id })
  expect(await site.rpc('recordings.delete', whole)).toMatchObject({ segments: 1, kept: 0 })
  await expect.poll(files).toEqual([])
  await expect.poll(async () => (await kinds()).at(0)?.[0]).toBe('recording.deleted')
})

test('a viewer sees recordings of cameras and changes nothing', async () => {
  const viewer = { transport: 'rpc', client: '', role: 'viewer' } as const
  const sources = await site.controller.call('recordings.sources', {}, viewer)
  expect(sources.ok).toBe(true)
  const started = await site.controller.call('recordings.start', stream(), viewer)
  expect(started).toMatchObject({ ok: false, error: { code: 'forbidden' } })
})
