import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findRecordings } from '../../server/recordings/index/recorded-files.ts'
import { startCamera } from '../support/camera/camera.ts'
import { readRecorded } from '../support/recordings/recorded-file.ts'
import { folderHolds } from '../support/recordings/written-media.ts'
import { ControllersSite, type SiteController } from '../support/sites/controllers-site.ts'

test('A replica that receives a request for a recording names the console of the leader', {
  timeout: 90_000,
}, async () => {
  const site = await ControllersSite.start({ controllers: 2 })
  onTestFinished(() => site.remove())
  const leads = await site.leader()
  const follows = site.controllers.find((one) => one !== leads) ?? leads
  const { folder, ready } = follows.headless
  const key = (await readFile(join(folder, 'console.key'), 'utf8')).trim()
  const headers = { authorization: `Bearer ${key}` }
  // Lists are the leader's answers.
  expect(await follows.headless.rpc('recordings.sources', {})).toEqual({ total: 0, items: [] })
  for (const path of ['/recordings/segments/1', '/recordings/segments/1/media?from=0&to=1', '/recordings/exports/1']) {
    const answer = await fetch(ready.console + path, { headers })
    expect([answer.ok, await answer.text()]).toEqual([false, expect.stringContaining(leads.headless.ready.console)])
  }
})

test('The leader is killed while a camera is recorded: the next one repairs the files and continues, and the time line is continuous', {
  timeout: 240_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-recordings-'))
  const camera = await startCamera({ width: 320, height: 180, gop: 15 })
  // Both controllers have this folder, as on a disk that follows the leader.
  const site = await ControllersSite.start({
    controllers: 2,
    nodes: [{ name: 'here', kind: 'embedded' }],
    settings: { recording: { free_gigabytes: 0.1, free_percent: 0 } },
    env: { ROOMDESK_RECORDINGS_DIR: folder },
  })
  onTestFinished(async () => {
    await site.remove()
    await camera.kill()
    await rm(folder, { recursive: true, force: true })
  })
  const first = await site.leader()
  const roomId = (await first.headless.rpc('rooms.create', { topic: 'Yard' })).room_id
  await first.headless.rpc('devices.create', {
    ...{ roomId, userId: 'yard', userName: 'Yard' },
    userAddress: camera.url('/opus'),
  })
  const stream = { room_id: roomId, user_id: 'yard' }
  await first.headless.rpc('recordings.set_rule', { ...stream, rule: { when: 'always' } })
  const timeLine = async ({ headless }: SiteController) => {
    const span = { from: Date.now() - 3_600_000, to: Date.now() + 60_000 }
    const { items } = await headless.rpc('recordings.segments', { streams: [stream], ...span })
    const pieces = await headless.rpc('recordings.pieces', { stream, ...span })
    return { spans: items[0]?.spans ?? [], gaps: items[0]?.gaps ?? [], pieces: pieces.items }
  }
  const records = async (controller: SiteController): Promise<void> => {
    await expect.poll(async () => (await timeLine(controller)).spans.at(-1)?.open, { timeout: 60_000 }).toBe(true)
    await folderHolds(folder, 2_000)
  }
  await records(first)
  const killedAt = Date.now()
  await site.kill(first)
  const second = await site.leader(first)
  await records(second)
  // The first one comes back, and follows.
  await site.restart(first)
  await second.headless.rpc('recordings.set_rule', { ...stream, rule: { when: 'never' } })
  await expect
    .poll(async () => (await timeLine(second)).spans.some(({ open }) => open), { timeout: 60_000 })
    .toBe(false)

  const { pieces, gaps } = await timeLine(second)
  const [before, after] = [pieces.filter(({ from }) => from < killedAt), pieces.filter(({ from }) => from >= killedAt)]
  expect([before.length, after.length].every((count) => count > 0)).toBe(true)
  for (const [index, piece] of pieces.slice(1).entries())
    expect(piece.from).toBeGreaterThanOrEqual((pieces[index]?.to ?? 0) - 250)
  // The gap is told, from the last picture of the first to the first picture of the second.
  const [from, to] = [before.at(-1)?.to ?? 0, after[0]?.from ?? 0]
  const told = gaps.filter((gap) => gap.from < to && (gap.to ?? Infinity) > from)
  expect(told[0]?.reason).toBe('nodeAway')
  const ends = [from, ...told.map((gap) => gap.to ?? 0)]
  for (const [index, gap] of told.entries()) expect(Math.abs(gap.from - (ends[index] ?? 0))).toBeLessThan(50)
  expect(Math.abs((ends.at(-1) ?? 0) - to)).toBeLessThan(50)
  expect(gaps.filter((gap) => gap.to === null)).toEqual([])
  console.info(`nothing was recorded for ${Math.round(to - from)} ms: ${told.map(({ reason }) => reason).join(', ')}`)
  // Each file is in the index once, whole, and plays.
  const files: string[] = []
  for await (const { file, isPart } of findRecordings(folder)) {
    expect(isPart).toBe(false)
    expect((await readRecorded(join(folder, file))).pictures.length).toBeGreaterThan(0)
    files.push(file)
  }
  expect(files).toHaveLength(pieces.length)
})
