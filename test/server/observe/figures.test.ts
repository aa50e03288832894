import { copyFile, mkdir, open, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { NodeLoad } from '../../../shared/domain/nodes.ts'
import { FigureHistory } from '../../../server/observe/figures/figure-history.ts'
import { type FigureName, figureHistory, type FigureSpan } from '../../../shared/console/figures.ts'
import type { Sample } from '../../../shared/console/site.ts'
import { controllerSite } from '../../support/sites/controller-site.ts'
import { temporaryFolder } from '../../support/sites/store-site.ts'
import { bothHalves } from '../../support/page-session.ts'

const begin = Date.UTC(2026, 10, 1, 12)
const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** A controller's figures with a clock that the test sets. */
class Recorder {
  readonly logged: string[] = []
  readonly history: FigureHistory
  now: number
  loads: { name: string; load: NodeLoad | undefined }[] = []

  constructor(folder: string, now = begin) {
    this.now = now
    const logger = pino({ level: 'warn' }, { write: (line: string) => void this.logged.push(line) })
    this.history = new FigureHistory({
      folder,
      logger,
      meetings: () => 1,
      nodes: () => this.loads,
      now: () => this.now,
    })
  }

  /** Moves the clock forward and samples at its end. */
  sample(people: number, seconds = 5, more: Partial<Sample> = {}): void {
    this.now += seconds * 1_000
    this.history.record({
      ...{ at: this.now, seconds, media_requests: 10, device_requests: 0, failures: {}, p50: 1, p99: 2 },
      ...{ people, devices: 0, ...more },
    })
  }

  async values(span: FigureSpan, figure: FigureName = 'people', node = ''): Promise<(number | null)[]> {
    const view = await this.history.view(span)
    figureHistory.parse({ controller: 'here', ...view })
    return view.series.find((one) => one.figure === figure && one.node === node)?.avg ?? []
  }
}

async function recorder(folder: string, now?: number): Promise<Recorder> {
  const made = new Recorder(folder, now)
  await made.history.open()
  return made
}

const known = (values: readonly (number | null)[]): number[] => values.filter((value) => value !== null)

test('figures survive a restart, and the time without the controller is a gap', async () => {
  const folder = await temporaryFolder()
  const first = await recorder(folder)
  for (let i = 0; i < 24; i++) first.sample(i < 12 ? 2 : 4)
  await first.history.close()
  expect((await stat(join(folder, 'figures.ring'))).mode & 0o777).toBe(0o600)

  const second = await recorder(folder, first.now + 5 * minute)
  for (let i = 0; i < 12; i++) second.sample(6)
  const values = await second.values('15m')
  expect(values).toHaveLength(180)
  expect(known(values)).toEqual([...Array(12).fill(2), ...Array(12).fill(4), ...Array(12).fill(6)])
  // Five minutes without a value, between the two runs.
  expect(values.slice(values.indexOf(4), values.indexOf(6)).filter((value) => value === null)).toHaveLength(60)
  expect(known(await second.values('15m', 'media_requests'))).toContain(2)
  expect(known(await second.values('24h')).at(-1)).toBeGreaterThan(2)
  expect([...first.logged, ...second.logged]).toEqual([])
  await second.history.close()
})

test('thirty days are kept, the file does not grow, and older ones are deleted', async () => {
  const folder = await temporaryFolder()
  const site = await recorder(folder)
  site.sample(1)
  await site.history.close()
  const bytes = (await stat(join(folder, 'figures.ring'))).size
  const later = await recorder(folder, begin)
  // One sample in each five minutes of 31 days; the first day has one person.
  for (let at = begin; at < begin + 31 * day; at += 5 * minute) {
    later.now = at
    later.sample(at < begin + day ? 1 : 5, 5, { failures: { 426: 10 } })
  }
  const values = await later.values('30d')
  expect(values).toHaveLength(360)
  expect(new Set(known(values))).toEqual(new Set([5]))
  expect(known(values)).toHaveLength(360)
  const { series } = await later.history.view('24h')
  const failures = series.find(({ figure }) => figure === 'failures')
  expect(Math.max(...known(failures?.max ?? []))).toBe(2)
  await later.history.close()
  expect((await stat(join(folder, 'figures.ring'))).size).toBe(bytes)
  expect(bytes).toBeLessThan(1_500_000)
})

test('a point of several samples keeps the lowest and the highest', async () => {
  const site = await recorder(await temporaryFolder())
  for (const people of [1, 9, 2]) site.sample(people)
  const { series } = await site.history.view('24h')
  const people = series.find(({ figure }) => figure === 'people')
  expect([known(people?.avg ?? []), known(people?.min ?? []), known(people?.max ?? [])]).toEqual([[4], [1], [9]])
  await site.history.close()
})

test('a late sample covers the steps since the previous one; a suspended machine leaves a gap', async () => {
  const site = await recorder(await temporaryFolder())
  site.sample(1)
  site.sample(2, 20)
  expect(known(await site.values('15m'))).toEqual([1, 2, 2, 2, 2])
  site.now += hour
  site.sample(3)
  expect(known(await site.values('1h'))).toEqual([3])
  await site.history.close()
})

test('a clock that is set forward and back loses only the time during which it was wrong', async () => {
  const folder = await temporaryFolder()
  const site = await recorder(folder)
  for (let i = 0; i < 6; i++) site.sample(1)
  const right = site.now
  site.now = right + 400 * day
  for (let i = 0; i < 3; i++) site.sample(7)
  expect(known(await site.values('30d'))).toEqual([7])
  site.now = right + 15_000
  for (let i = 0; i < 6; i++) site.sample(2)
  expect(known(await site.values('15m'))).toEqual([1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2])
  await site.history.close()
  const again = await recorder(folder, site.now)
  expect(known(await again.values('15m'))).toHaveLength(12)
  expect(again.logged).toEqual([])
  await again.history.close()
})

test('a torn record and a truncated file lose only their own content', async () => {
  const folder = await temporaryFolder()
  const path = join(folder, 'figures.ring')
  const first = await recorder(folder)
  for (let i = 0; i < 12; i++) first.sample(i + 1)
  await first.history.close()
  const whole = await readFile(path)
  const record = whole.indexOf(Buffer.from(new Float64Array([begin + 15_000]).buffer))
  const handle = await open(path, 'r+')
  await handle.write(Buffer.alloc(40, 0xff), 0, 40, record + 100)
  await handle.close()
  await truncate(path, whole.length - 200_000)

  const second = await recorder(folder, first.now)
  expect(known(await second.values('15m'))).toEqual([1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12])
  expect(second.logged.join()).toContain('damaged and left out')
  await second.history.close()
  const third = await recorder(folder, first.now)
  expect(known(await third.values('15m'))).toHaveLength(11)
  expect(third.logged).toEqual([])
  expect((await stat(path)).size).toBe(whole.length)
  await third.history.close()
})

test('a file of another format is set aside, once', async () => {
  const folder = await temporaryFolder()
  const path = join(folder, 'figures.ring')
  for (const text of ['', 'not a ring', '{"format":1,"columns":[]}', JSON.stringify({ format: 9 }).padEnd(20_000)]) {
    await writeFile(path, text)
    const site = await recorder(folder)
    expect(site.logged.join()).toContain('set aside')
    site.sample(3)
    expect(known(await site.values('15m'))).toEqual([3])
    await site.history.close()
  }
  expect(await readdir(folder)).toHaveLength(2)
})

test('random damage never prevents a start of the controller', async () => {
  const folder = await temporaryFolder()
  const path = join(folder, 'figures.ring')
  const first = await recorder(folder)
  for (let i = 0; i < 12; i++) first.sample(1)
  await first.history.close()
  await copyFile(path, `${path}.good`)
  for (let round = 0; round < 30; round++) {
    const bytes = await readFile(`${path}.good`)
    for (let i = 0; i < 2_000; i++) bytes[Math.floor((round * 7_919 + i * 104_729) % bytes.length)] = (i * 31) & 0xff
    await writeFile(path, bytes.subarray(0, bytes.length - round * 1_000))
    const site = await recorder(folder, first.now)
    site.sample(3)
    expect(known(await site.values('15m')).at(-1)).toBe(3)
    await site.history.close()
  }
}, 30_000)

test('figures are kept in memory while the disk refuses writes, and written when it accepts them', async () => {
  const folder = join(await temporaryFolder(), 'not-yet')
  const site = await recorder(folder)
  site.sample(1)
  await expect.poll(() => site.logged.join()).toContain('cannot be recorded')
  await mkdir(folder)
  site.sample(2)
  await site.history.close()
  const again = await recorder(folder, site.now)
  expect(known(await again.values('15m'))).toEqual([1, 2])
  expect(site.logged).toHaveLength(1)
  await again.history.close()
})

test('a node has figures from its second report; a removed node keeps its figures while there is space', async () => {
  const folder = await temporaryFolder()
  const site = await recorder(folder)
  const report = (name: string, uptime: number, bytes: number): { name: string; load: NodeLoad } => ({
    name,
    load: {
      uptime_ms: uptime,
      cpu_ms: uptime / 10,
      memory: 1_000,
      bytes_in: bytes,
      bytes_out: 2 * bytes,
      dropped: { viewers: 0, conversion: 0 },
    },
  })
  site.loads = [report('one', 5_000, 0), { name: 'janus', load: undefined }]
  site.sample(1)
  site.loads = [report('one', 10_000, 5_000)]
  site.sample(1)
  // The process restarted.
  site.loads = [report('one', 1_000, 10)]
  site.sample(1)
  expect(await site.values('15m', 'node_traffic_out', 'one')).toHaveLength(180)
  expect(known(await site.values('15m', 'node_traffic_out', 'one'))).toEqual([16_000])
  expect(known(await site.values('15m', 'traffic_in'))).toEqual([8_000])
  expect(known(await site.values('15m', 'node_memory', 'one'))).toEqual([1_000, 1_000, 1_000])
  expect(known(await site.values('15m', 'node_cpu', 'one'))).toHaveLength(1)
  for (let n = 0; n < 12; n++) {
    site.loads = [report(`later ${n}`, 5_000, 0)]
    site.sample(1)
  }
  const { series } = await site.history.view('15m')
  expect(new Set(series.map(({ node }) => node)).size).toBe(9)
  expect(series.some(({ node }) => node === 'one')).toBe(false)
  expect(series.some(({ node }) => node === 'later 11')).toBe(true)
  expect(known(await site.values('15m'))).toHaveLength(15)
  await site.history.close()
})

test('the machine, the controller and the disk are measured', async () => {
  const folder = await temporaryFolder()
  // A disk in memory may be empty otherwise.
  await writeFile(join(folder, 'used'), Buffer.alloc(65_536, 1))
  const site = await recorder(folder)
  site.sample(1)
  await expect.poll(() => (site.sample(1), site.history.latest.get('')?.disk_free)).toBeGreaterThan(1_000)
  // The kernel counts the processor's time in steps of 10 ms.
  await expect.poll(() => (site.sample(1), site.history.latest.get('')?.machine_cpu)).toBeGreaterThan(0)
  for (const figure of ['machine_memory', 'controller_memory', 'disk_used', 'machine_cpu'] as const) {
    const value = site.history.latest.get('')?.[figure]
    expect([figure, value !== undefined && value > 0]).toEqual([figure, true])
  }
  const { memory_total, cores } = await site.history.view('1h')
  expect(memory_total).toBeGreaterThan(site.history.latest.get('')?.machine_memory ?? Number.NaN)
  expect(cores).toBeGreaterThan(0)
  await site.history.close()
})

test('a viewer reads figures of earlier runs over /rpc, and metrics come from the same table', async () => {
  const folder = await temporaryFolder()
  const before = await recorder(folder, Date.now() - 10 * minute)
  for (let i = 0; i < 12; i++) before.sample(7)
  await before.history.close()
  const site = await controllerSite(undefined, { dataFolder: folder })
  await site.create('vera', 'viewer')
  const vera = await site.signIn('vera')
  const view = await site.call(vera, 'overview.history', { span: '1h' })
  const people = view.series.find(({ figure }) => figure === 'people')
  // Twelve samples lie in six or seven steps of 10 s.
  expect(new Set(known(people?.avg ?? []))).toEqual(new Set([7]))
  expect(view).toMatchObject({ step_ms: 10_000, points: 360, controller: hostname() })
  const since = view.from + 355 * view.step_ms
  const newest = await site.call(vera, 'overview.history', { span: '1h', since })
  expect(newest.from).toBe(since)
  expect(newest.points).toBeLessThan(10)
  const refused = await site.ask('POST', '/rpc/overview.history', { headers: bothHalves(vera), body: { span: '2h' } })
  expect(refused).toMatchObject({ status: 400, body: { ok: false, error: { code: 'invalid' } } })
  expect((await site.ask('POST', '/rpc/overview.history', { body: { span: '1h' } })).status).toBe(401)
  expect((await site.ask('GET', '/metrics')).status).toBe(200)
})
