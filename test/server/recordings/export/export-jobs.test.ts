import { execFile } from 'node:child_process'
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { askProgram, type FfmpegProgram, findProgram } from '../../../../server/nodes/embedded/ffmpeg/ffmpeg-program.ts'
import type { ExportRequest } from '../../../../server/recordings/export/export-job.ts'
import { ExportJobs } from '../../../../server/recordings/export/export-jobs.ts'
import { exportRoute } from '../../../../server/recordings/export/export-route.ts'
import { SpanExport } from '../../../../server/recordings/export/span-export.ts'
import { type Space, SpaceBudget } from '../../../../server/recordings/disk-space.ts'
import { type RecordingsSite, recordingsSite } from '../../../support/recordings/recordings-site.ts'

const startedAt = Date.UTC(2026, 8, 21, 10)
/** A disk on which nothing is short. */
const roomy: Space = { free: 1e12, capacity: 2e12, reserve: 1e9, margin: 1e8 }
const operator = { role: 'operator', account: 'olivia', accountId: 'olivia', address: '', scoped: true } as const

async function exportSite(
  site: RecordingsSite,
  space: Space = roomy,
  ffmpeg: () => Promise<FfmpegProgram | undefined> = async () => undefined,
): Promise<{ jobs: ExportJobs; folder: string }> {
  const folder = join(site.folder, '.exports')
  await mkdir(join(folder, 'left'), { recursive: true })
  await writeFile(join(folder, 'left', 'over.mp4'), 'of a run before')
  const { index, playback } = site
  const span = new SpanExport({ files: site.files, index, tables: playback.tables, ffmpeg })
  const jobs = new ExportJobs({
    folder: site.folder,
    index,
    span,
    logger: pino({ level: 'silent' }),
    budget: new SpaceBudget(async () => space),
  })
  onTestFinished(() => jobs.stop())
  return { jobs, folder }
}

function requestOf(userIds: readonly string[], more: Partial<ExportRequest> = {}): ExportRequest {
  const streams = userIds.map((userId) => ({ roomId: '1000', userId, source: 'main', quality: 'main' }) as const)
  const span = { from: startedAt, to: startedAt + 12_000 }
  return { streams, ...span, format: 'mp4', keepGaps: false, picture: true, sound: true, ...more }
}

async function ended(jobs: ExportJobs, id: string): Promise<string> {
  const state = (): string => jobs.list().find((job) => job.id === id)?.state ?? 'gone'
  await expect.poll(state).toMatch(/done|failed|cancelled|gone/)
  return state()
}

test('An operator exports a time span, sees the progress and downloads the file, also in parts', async () => {
  const site = await recordingsSite()
  await site.record({ startedAt, userName: 'Loading dock / east' })
  const { jobs, folder } = await exportSite(site)
  const { id } = await jobs.start(requestOf(['camera']), 'olivia')
  expect(await ended(jobs, id)).toBe('done')
  const [job] = jobs.list('olivia')
  expect(job).toMatchObject({ progress: 1, name: 'Loading-dock-east-2026-09-21T100000Z.mp4', error: '' })
  expect((job?.expiresAt ?? 0) - Date.now()).toBeGreaterThan(3_500_000)
  expect(await readdir(folder)).toEqual([id])

  const downloads: string[] = []
  const port = { downloaded: ({ caller }: { caller: { accountId: string } }) => void downloads.push(caller.accountId) }
  const route = exportRoute(jobs, { openSignedIn: () => isOpen }, port)
  let isOpen = true
  const ask = (headers: Record<string, string>, caller: Parameters<typeof route>[1] = operator): Promise<Response> =>
    route(new Request('http://console.invalid/', { headers }), caller, id)
  const whole = Buffer.from(await (await ask({})).arrayBuffer())
  expect(whole.length).toBe(job?.bytes)
  const rest = await ask({ Range: 'bytes=1000-' })
  expect([rest.status, Buffer.from(await rest.arrayBuffer())]).toEqual([206, whole.subarray(1000)])
  // A new account may have the name of an earlier one; a demoted operator may not download.
  expect((await ask({}, { ...operator, accountId: 'other' })).status).toBe(404)
  expect((await ask({}, { ...operator, role: 'viewer' })).status).toBe(404)
  isOpen = false
  expect((await ask({})).status).toBe(404)
  isOpen = true
  const admin = await ask({}, { ...operator, accountId: 'other', role: 'admin' })
  expect(admin.status).toBe(200)
  await admin.body?.cancel()
  expect(downloads).toEqual(['olivia', 'other'])

  jobs.cancel(id)
  expect((await ask({})).status).toBe(404)
  await expect.poll(() => readdir(folder)).toEqual([])
})

test('After a restart, exports that were complete or in progress are listed as ended by it, for an hour or until they are removed', async () => {
  const site = await recordingsSite()
  await site.record({ startedAt })
  const { jobs, folder } = await exportSite(site)
  const { id: done } = await jobs.start(requestOf(['camera']), 'olivia')
  expect(await ended(jobs, done)).toBe('done')
  const { id: failed } = await jobs.start(requestOf(['nobody']), 'olivia')
  expect(await ended(jobs, failed)).toBe('failed')
  const { id: removed } = await jobs.start(requestOf(['camera']), 'olivia')
  jobs.cancel(removed)
  const { id: running } = await jobs.start(requestOf(['camera'], { keepGaps: true, sound: false }), 'tim')
  await jobs.stop()

  const after = (await exportSite(site)).jobs
  await expect.poll(() => after.list().map(({ id }) => id)).toEqual([running, done])
  expect(after.list('tim')).toMatchObject([
    {
      state: 'failed',
      failure: 'restarted',
      expiresAt: 0,
      keepGaps: true,
      sound: false,
      streams: [{ userId: 'camera' }],
    },
  ])
  await expect.poll(() => readdir(folder).catch(() => [])).toEqual([])
  after.cancel(running)
  await after.stop()
  const later = (await exportSite(site)).jobs
  await expect.poll(() => later.list().map(({ id }) => id)).toEqual([done])
})

test('A whole room is exported as a zip: a file for each participant, and a time line', async () => {
  const site = await recordingsSite()
  await site.record({ startedAt, userId: 'anna', userName: 'Anna', device: false })
  await site.record({
    startedAt: startedAt + 5_000,
    userId: 'ben',
    userName: 'Ben',
    device: false,
    film: { codec: 'vp8' },
  })
  const { jobs, folder } = await exportSite(site)
  const { id } = await jobs.start(requestOf(['anna', 'ben', 'never there']), 'olivia')
  expect(await ended(jobs, id)).toBe('done')
  const [job] = jobs.list()
  expect(job).toMatchObject({ name: 'recordings-2026-09-21T100000Z.zip', unconverted: true })
  expect(await readdir(join(folder, id))).toEqual([job?.name])
  const unzip = async (...parameters: string[]): Promise<string> =>
    (await promisify(execFile)('unzip', [...parameters])).stdout
  const archive = join(folder, id, job?.name ?? '')
  expect(await unzip('-tq', archive)).toContain('No errors detected')
  expect((await unzip('-Z1', archive)).trim().split('\n')).toEqual([
    'timeline.json',
    'Anna-2026-09-21T100000Z-1.mp4',
    'Ben-2026-09-21T100000Z-2.webm',
  ])
  const timeline = JSON.parse(await unzip('-p', archive, 'timeline.json')) as {
    files: { user_name: string; begins_at: string; recorded: { from: string }[] }[]
  }
  expect(timeline.files.map(({ user_name, begins_at }) => [user_name, begins_at.slice(11, 19)])).toEqual([
    ['Anna', '10:00:00'],
    ['Ben', '10:00:05'],
  ])
  expect(timeline.files[1]?.recorded.map(({ from }) => from)).toEqual(['2026-09-21T10:00:05.000Z'])
})

test('Users with VP8 and with H.264 are exported as one zip of MP4 with AAC', async () => {
  const site = await recordingsSite()
  await site.record({ startedAt, userId: 'anna', device: false, film: { codec: 'vp8' } })
  await site.record({ startedAt: startedAt + 3_000, userId: 'ben', device: false, film: { codec: 'h264', seconds: 4 } })
  await site.record({ startedAt, film: { seconds: 12 } })
  const program = await askProgram((await findProgram('')) ?? '')
  const { jobs, folder } = await exportSite(site, roomy, async () => program)
  const { id } = await jobs.start(requestOf(['anna', 'ben', 'camera']), 'olivia')
  await expect.poll(() => jobs.list()[0]?.state, { timeout: 20_000 }).not.toMatch(/waiting|running/)
  expect(jobs.list()[0]).toMatchObject({ state: 'done', error: '', unconverted: false })
  expect((await readdir(join(folder, id)))[0]).toMatch(/\.zip$/)
})

test('Exports run two at a time, can be stopped, and are bounded', async () => {
  const site = await recordingsSite()
  await site.record({ startedAt })
  const { jobs, folder } = await exportSite(site)
  const asked = await Promise.allSettled(Array.from({ length: 60 }, () => jobs.start(requestOf(['camera']), 'olivia')))
  const started = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const refused = asked.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []))
  expect(jobs.list().filter(({ state }) => state === 'running')).toHaveLength(2)
  expect(jobs.list().length).toBeLessThanOrEqual(50)
  expect(refused[0]).toContain('Too many exports')
  for (const { id } of started.slice(1)) jobs.cancel(id)
  expect(await ended(jobs, started[0]?.id ?? '')).toBe('done')
  await expect.poll(() => jobs.list().filter(({ state }) => state === 'running')).toEqual([])
  await expect.poll(async () => (await readdir(folder)).length).toBe(1)
})

test('An export of a span without recordings says so', async () => {
  const site = await recordingsSite()
  const { jobs, folder } = await exportSite(site)
  const { id } = await jobs.start(requestOf(['camera']), 'olivia')
  expect(await ended(jobs, id)).toBe('failed')
  expect(jobs.list()[0]).toMatchObject({ failure: 'nothingRecorded', error: expect.stringContaining('Nothing') })
  jobs.end(id)
  expect(jobs.list()).toHaveLength(1)
  jobs.cancel(id)
  expect(jobs.list()).toEqual([])
  await expect.poll(() => readdir(folder)).toEqual([])
})

test('The budget of exports includes queued ones, keeps the reserve of recordings, and gives an account half', async () => {
  const site = await recordingsSite()
  const ids = await site.record({ startedAt })
  const bytes = ids.reduce((sum, id) => sum + (site.index.segment(id)?.bytes ?? 0), 0)
  // A zip beside its files: each export may need twice its recordings.
  const { jobs } = await exportSite(site, { ...roomy, free: roomy.reserve + roomy.margin + 2 * bytes * 8 + 1 })
  const outcomes = async (account: string): Promise<string> => {
    const asked = await Promise.allSettled(Array.from({ length: 10 }, () => jobs.start(requestOf(['camera']), account)))
    const refused = asked.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []))
    expect(refused.every((text) => text.includes('too full'))).toBe(true)
    return `${10 - refused.length} of 10`
  }
  // All are asked for before the first one is done, so what counts is what was promised.
  expect(await outcomes('olivia')).toBe('4 of 10')
  expect(await outcomes('root')).toBe('4 of 10')
})

test('Without space beside the reserve no export starts', async () => {
  const site = await recordingsSite()
  await site.record({ startedAt })
  const { jobs } = await exportSite(site, { ...roomy, free: roomy.reserve + roomy.margin })
  await expect(jobs.start(requestOf(['camera']), 'olivia')).rejects.toThrow('too full')
})

test('Results are deleted when the recordings need their space, the oldest first', async () => {
  const site = await recordingsSite()
  await site.record({ startedAt })
  const { jobs, folder } = await exportSite(site)
  const ids: string[] = []
  for (let turn = 0; turn < 3; turn++) {
    const { id } = await jobs.start(requestOf(['camera']), 'olivia')
    expect(await ended(jobs, id)).toBe('done')
    ids.push(id)
  }
  const size = jobs.list()[0]?.bytes ?? 0
  expect(jobs.giveWay(size + 1)).toBe(2 * size)
  const gaveWay = { state: 'failed', failure: 'spaceNeeded', name: '', bytes: 0 }
  expect(jobs.list()).toMatchObject([{ id: ids[2], state: 'done' }, gaveWay, gaveWay])
  await expect.poll(() => readdir(folder)).toEqual(ids.slice(2))
  expect(jobs.giveWay(Number.MAX_SAFE_INTEGER)).toBe(size)
  expect(jobs.giveWay(1)).toBe(0)
})

test('Exports of an earlier run that cannot be deleted are reported, and stop nothing', async () => {
  const site = await recordingsSite()
  // A folder that the file system refuses to enter.
  const folder = join(site.folder, 'loop')
  await symlink(folder, folder)
  const said: string[] = []
  const logger = pino({}, { write: (line) => void said.push(line) })
  const { index, playback } = site
  const span = new SpanExport({ files: site.files, index, tables: playback.tables, ffmpeg: async () => undefined })
  const jobs = new ExportJobs({ folder, index, span, logger, budget: new SpaceBudget(async () => roomy) })
  await expect.poll(() => said.join('')).toContain('an export could not be deleted')
  await expect(jobs.start(requestOf(['camera']), 'olivia')).rejects.toThrow()
})
