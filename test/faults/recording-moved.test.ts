import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { findRecordings } from '../../server/recordings/index/recorded-files.ts'
import { startCamera } from '../support/camera/camera.ts'
import { readRecorded } from '../support/recordings/recorded-file.ts'
import { folderHolds } from '../support/recordings/written-media.ts'
import { MediaSite } from '../support/sites/media-site.ts'

vi.setConfig({ testTimeout: 180_000 })

test('a recorded room that moves to another node continues there in a new segment, and returns', async () => {
  const recordings = await mkdtemp(join(tmpdir(), 'roomdesk-recordings-'))
  const [camera, site] = await Promise.all([
    startCamera({ width: 320, height: 180, gop: 15 }),
    MediaSite.start({ recordings, cores: 3, settings: { recording: { free_gigabytes: 0.1, free_percent: 0 } } }),
  ])
  onTestFinished(async () => {
    await Promise.all([camera.kill(), site[Symbol.asyncDispose]()])
    await rm(recordings, { recursive: true, force: true })
  })
  await site.rpc('nodes.add_embedded', { count: 1 })
  const nodes = async () => await site.rpc('nodes.list', {})
  await site.until(async () => (await nodes()).every(({ state }) => state === 'online'), 45_000)
  const roomId = (await site.rpc('rooms.create', { topic: 'Yard' })).room_id
  const nodeOf = async (): Promise<string> => String((await site.api.get('/sdk/get_mcu', { room_id: roomId })).addr)
  await site.rpc('devices.create', { roomId, userId: 'yard', userName: 'Yard', userAddress: camera.url('/opus') })
  const stream = { room_id: roomId, user_id: 'yard' }
  await site.rpc('recordings.set_rule', { ...stream, rule: { when: 'always' } })
  const timeLine = async () => {
    const span = { from: Date.now() - 3_600_000, to: Date.now() + 60_000 }
    const { items } = await site.rpc('recordings.segments', { streams: [stream], ...span })
    const pieces = await site.rpc('recordings.pieces', { stream, ...span })
    return { spans: items[0]?.spans ?? [], gaps: items[0]?.gaps ?? [], pieces: pieces.items }
  }
  const port = new URL(site.nodeUrl).port
  for (const moves of [1, 2]) {
    await folderHolds(recordings, 1_000)
    const before = await nodeOf()
    const name = before.endsWith(`:${port}`) ? 'here' : 'here 2'
    await site.rpc('nodes.drain', { name })
    await site.until(async () => (await nodeOf()) !== before, 30_000)
    // The piece of the node before is complete, and the next one is being written.
    const left = async () => (await timeLine()).pieces.filter(({ end }) => end === 'left').length
    await expect.poll(left, { timeout: 60_000 }).toBeGreaterThanOrEqual(moves)
    await expect.poll(async () => (await timeLine()).spans.at(-1)?.open, { timeout: 60_000 }).toBe(true)
    await site.rpc('nodes.undrain', { name })
  }
  await folderHolds(recordings, 1_000)
  await site.rpc('recordings.set_rule', { ...stream, rule: { when: 'never' } })
  await expect.poll(async () => (await timeLine()).spans.some(({ open }) => open), { timeout: 30_000 }).toBe(false)
  const { pieces, gaps } = await timeLine()
  expect(pieces.map(({ end }) => end).filter((end) => end !== 'clock')).toEqual(['left', 'left', 'stopped'])
  for (const [index, piece] of pieces.slice(1).entries()) {
    const earlier = pieces[index]?.to ?? 0
    // Neither twice nor long missing; whatever is missing has a reason.
    expect(piece.from).toBeGreaterThanOrEqual(earlier - 250)
    expect(piece.from - earlier).toBeLessThan(15_000)
  }
  for (const { to, reason } of gaps) expect([to === null, reason]).toEqual([false, 'away'])
  for await (const { file, isPart } of findRecordings(recordings)) {
    expect(isPart).toBe(false)
    expect((await readRecorded(join(recordings, file))).pictures.length).toBeGreaterThan(0)
  }
})
