import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { type Headless, removeFolder, startHeadless } from '../support/headless.ts'
import { PostgresServer } from '../support/postgres/postgres-server.ts'

const credential = { label: 'Load', access_key: 'load', secret_key: 'load-secret', p2p: true }
const site = { credentials: [credential], nodes: [{ name: 'lab', kind: 'simulated' }] }
const rounds = Number(process.env.ROOMDESK_KILL_ROUNDS ?? 8)

/** Outcomes that the clients saw. */
interface Told {
  made: Set<string>
  gone: Set<string>
  /** No answer, or a failure to store. */
  refused: Set<string>
}

/** Creates rooms and deletes every third until `stop`; records failures. */
async function work(api: ApiClient, told: Told, name: string, stop: () => boolean): Promise<void> {
  for (let turn = 0; !stop(); turn++) {
    const id = `${name}-${turn}`
    const query = { topic: `Room ${id}`, owner_id: name, room_mode: 1, room_extend_id: id }
    const answer = await api.get('/rtc/room/create', query).catch(() => undefined)
    if (answer?.ret !== 0) {
      told.refused.add(id)
      if (answer === undefined) return
      expect(answer.ret).toBe(700)
      continue
    }
    told.made.add(id)
    if (turn % 3 !== 0) continue
    told.made.delete(id)
    const deleted = await api.get('/rtc/room/del', { room_id: id }).catch(() => undefined)
    if (deleted?.ret === 0) told.gone.add(id)
    else told.refused.add(id)
    if (deleted === undefined) return
  }
}

async function check(server: Headless, told: Told): Promise<void> {
  const api = new ApiClient(server.ready, credential)
  await api.authenticate()
  const wrong: string[] = []
  for (const id of told.made) if ((await api.get('/rtc/room/get', { room_id: id })).ret !== 0) wrong.push(id)
  for (const id of told.gone)
    if ((await api.get('/rtc/room/get', { room_id: id })).ret !== 404) wrong.push(`deleted ${id}`)
  expect(wrong).toEqual([])
  expect((await server.rpc('overview.get', {})).store.losses).toEqual([])
}

async function postgres(): Promise<PostgresServer> {
  const server = await PostgresServer.start({ durable: true })
  onTestFinished(() => server.remove())
  return server
}

test(`A controller killed ${rounds} times on PostgreSQL forgets nothing it acknowledged`, {
  timeout: 60_000 + rounds * 10_000,
}, async () => {
  const database = await postgres()
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-postgres-'))
  onTestFinished(() => removeFolder(folder))
  const flags = ['--store', database.address('public')]
  const told: Told = { made: new Set(), gone: new Set(), refused: new Set() }
  for (let round = 0; round < rounds; round++) {
    const server = await startHeadless({ folder, site, flags })
    const api = new ApiClient(server.ready, credential)
    expect((await api.authenticate()).ret).toBe(0)
    const before = told.made.size
    const workers = Array.from({ length: 8 }, (_, index) => work(api, told, `r${round}w${index}`, () => false))
    await vi.waitUntil(() => told.made.size > before + 3, { timeout: 20_000, interval: 1 })
    setTimeout(() => server.child.kill('SIGKILL'), Math.random() * 180)
    await Promise.all(workers)
  }
  const server = await startHeadless({ folder, site, flags })
  await check(server, told)
  expect(told.made.size).toBeGreaterThan(rounds)
  expect(await server.stop()).toBe(0)
})

test(`A database that crashes ${rounds} times under load: reads continue, and no acknowledged change is lost or applied twice`, {
  timeout: 60_000 + rounds * 20_000,
}, async () => {
  const database = await postgres()
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-postgres-'))
  onTestFinished(() => removeFolder(folder))
  const flags = ['--store', database.address('public')]
  const told: Told = { made: new Set(), gone: new Set(), refused: new Set() }
  const server = await startHeadless({ folder, site, flags })
  const api = new ApiClient(server.ready, credential)
  expect((await api.authenticate()).ret).toBe(0)
  const kept = await api.createRoom()
  let stopped = false
  const workers = Array.from({ length: 8 }, (_, index) => work(api, told, `w${index}`, () => stopped))
  for (let round = 0; round < rounds; round++) {
    const before = told.made.size
    await vi.waitUntil(() => told.made.size > before + 20, { timeout: 30_000, interval: 5 })
    await database.signal(round % 2 === 0 ? 'SIGQUIT' : 'SIGINT')
    expect((await api.get('/rtc/room/get', { room_id: kept })).ret).toBe(0)
    await database.launch()
  }
  stopped = true
  await Promise.all(workers)
  await check(server, told)
  await vi.waitFor(async () => expect((await fetch(`${server.ready.console}/healthz`)).status).toBe(200))
  const lines = await database.query<{ n: number; last: number }>(
    'select count(*)::int as n, max(seq)::int as last from roomdesk_journal',
  )
  expect(lines[0]?.n).toBe(lines[0]?.last)
  expect(server.log.join('\n')).not.toContain('a-password')
  expect(await server.stop()).toBe(0)

  // A refused change is there completely or not at all, also after a restart.
  const again = await startHeadless({ folder, site, flags })
  await check(again, told)
  expect(await again.stop()).toBe(0)
})
