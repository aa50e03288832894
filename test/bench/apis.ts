import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ApiClient, digestOf } from '../support/api-client.ts'
import { type Headless, removeFolder, startHeadless } from '../support/headless.ts'
import { createAndDelete, type Load, load } from './load.ts'
import { fillRooms, growJournal } from './site.ts'
import { report } from './table.ts'

const credential = { access_key: 'bench', secret_key: 'bench-secret', label: 'Bench', p2p: true }
/** Node of a first start. */
const site = { credentials: [credential], nodes: [{ name: 'This machine', kind: 'embedded' }] }

const ok = (body: string): boolean => body.startsWith('{"ret":0')

function rate(what: string, run: Load, goal: number, p99Limit = Number.POSITIVE_INFINITY): void {
  const text = `${Math.round(run.rate)}/s, p99 ${run.p99} ms${run.failures > 0 ? `, ${run.failures} FAILED` : ''}`
  const limit = Number.isFinite(p99Limit) ? `, p99 under ${p99Limit} ms` : ''
  report(what, text, `${Math.round(goal)}/s${limit}`, run.rate >= goal && run.p99 < p99Limit && run.failures === 0)
}

async function baseline(): Promise<number> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'baseline.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [port] = (await once(child.stdout, 'data')) as [Buffer]
  const url = `http://127.0.0.1:${Number(String(port))}`
  await load(url, () => '/rtc/room/get', ok, 2)
  const run = await load(url, () => '/rtc/room/get?access_token=abc&room_id=123456789', ok)
  child.kill()
  report('baseline B', `${Math.round(run.rate)}/s, p99 ${run.p99} ms`, 'none', true)
  return run.rate
}

async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024
}

async function client(server: Headless): Promise<ApiClient> {
  const api = new ApiClient(server.ready, credential)
  await api.authenticate()
  return api
}

/** Measures the rates at one size of the site. */
async function rates(server: Headless, size: number): Promise<{ get: Load; create: Load; api: ApiClient }> {
  const api = await client(server)
  const token = encodeURIComponent(api.token)
  let turn = 0
  const read = (): string => `/rtc/room/get?access_token=${token}&room_id=${100_000_001 + (turn++ % size)}`
  await load(api.media, read, ok, 2)
  const get = await load(api.media, read, ok)
  const create = await load(
    api.media,
    () => `/rtc/room/create?access_token=${token}&topic=Morning&owner_id=o1&room_mode=1`,
    ok,
  )
  return { get, create, api }
}

async function small(b: number, folder: string): Promise<{ get: Load; create: Load }> {
  await startHeadless({ folder, site }).then((server) => server.stop())
  await fillRooms(folder, 1_000)
  await startHeadless({ folder, site }).then((server) => server.stop())
  const server = await startHeadless({ folder, site })
  report('start with 1,000 rooms', `${Math.round(server.startedIn)} ms`, 'under 400 ms', server.startedIn < 400)
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  const idle = await residentMegabytes(server.ready.pid)
  report('resident memory, idle', `${Math.round(idle)} MB`, 'under 110 MB', idle < 110)
  const { get, create, api } = await rates(server, 1_000)
  rate('get room', get, 0.6 * b)
  const wrong = await load(
    api.media,
    () => '/rtc/room/get?access_token=d3Jvbmc&room_id=100000001',
    (body) => body.includes('"ret":602'),
  )
  rate('get room, wrong token', wrong, 0.6 * b)
  const path = `/rtc/auth/valid?access_key=bench&digest=${encodeURIComponent(digestOf(credential.secret_key, 'bench'))}`
  rate('authenticate', await load(api.media, () => path, ok), 0.35 * b)
  rate('create room, 1,000 rooms', create, 0.25 * b, 20)
  // Uses a new token: so many authentications end the oldest sessions of a credential.
  const made = await createAndDelete(api.media, encodeURIComponent((await client(server)).token))
  const text = `${Math.round(made.rate)}/s${made.failures > 0 ? `, ${made.failures} FAILED` : ''}`
  report('create + del pairs', text, '4000/s', made.rate >= 4_000 && made.failures === 0)
  await server.stop()
  return { get, create }
}

async function large(folder: string, before: { get: Load; create: Load }): Promise<void> {
  await startHeadless({ folder, site }).then((server) => server.stop())
  await fillRooms(folder, 100_000)
  await growJournal(folder, 100_000, 50 * 1024 * 1024)
  const server = await startHeadless({ folder, site })
  report(
    'start with 100,000 rooms, 50 MB journal',
    `${Math.round(server.startedIn)} ms`,
    'under 2000 ms',
    server.startedIn < 2_000,
  )
  await new Promise((resolve) => setTimeout(resolve, 5_000))
  const idle = await residentMegabytes(server.ready.pid)
  report('resident memory, 100,000 rooms', `${Math.round(idle)} MB`, 'under 350 MB', idle < 350)
  const { get, create } = await rates(server, 100_000)
  rate('get room, 100,000 rooms', get, 0.95 * before.get.rate)
  rate('create room, 100,000 rooms', create, 0.85 * before.create.rate, 20)
  await server.stop()
}

/** Measures both APIs of the built headless program under load, against Koa and @koa/router answering a constant JSON in the same run. */
export async function measureApis(): Promise<void> {
  const folders = [
    await mkdtemp(join(tmpdir(), 'roomdesk-bench-')),
    await mkdtemp(join(tmpdir(), 'roomdesk-bench-')),
  ] as const
  try {
    const b = await baseline()
    const before = await small(b, folders[0])
    await large(folders[1], before)
  } finally {
    for (const folder of folders) await removeFolder(folder)
  }
}
