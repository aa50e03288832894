import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { ApiClient } from '../../../support/api-client.ts'
import { HeadlessEndedError, startHeadless } from '../../../support/headless.ts'
import { postgresOfFile } from '../drivers.ts'
import { temporaryFolder } from '../site.ts'

const postgres = postgresOfFile()
const credential = { label: 'Lab', access_key: 'lab', secret_key: 'lab-secret' }
const settings = { deadlines: { store_ms: 500 } }
const site = { credentials: [credential], nodes: [{ name: 'lab', kind: 'simulated' }], settings }
const program = join(import.meta.dirname, '../../../../dist/server/headless.js')

test('A site that was moved into PostgreSQL goes on there; while the database is away it answers reads, refuses changes with 700, and comes back by itself', async () => {
  const server = await postgres()
  const schema = await server.newSchema()
  const database = server.address(schema)
  const folder = await temporaryFolder()
  const inFiles = await startHeadless({ folder, site })
  const first = new ApiClient(inFiles.ready, credential)
  await first.authenticate()
  const room = await first.createRoom()
  expect(await inFiles.stop()).toBe(0)

  const move = ['--data-dir', folder, '--move-store', 'database', '--store', database]
  const moved = spawnSync(process.execPath, [program, ...move], { encoding: 'utf8' })
  expect(moved).toMatchObject({ status: 0, stdout: expect.stringContaining('every record was compared') as string })
  const refused = await startHeadless({ folder }).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(HeadlessEndedError)
  expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('was moved to postgres://') as string })

  // Named by the site file this time.
  const controller = await startHeadless({ folder, site: { ...site, store: database } })
  const api = new ApiClient(controller.ready, credential)
  await api.authenticate()
  const ret = async (path: string, query: Record<string, string | number>) => (await api.get(path, query)).ret
  expect(await ret('/rtc/room/get', { room_id: room })).toBe(0)
  await server.signal('SIGINT')
  expect(await ret('/rtc/room/get', { room_id: room })).toBe(0)
  const began = performance.now()
  expect(await ret('/rtc/room/create', { topic: 'Away', owner_id: 'o', room_mode: 1, room_extend_id: 'away' })).toBe(
    700,
  )
  expect(performance.now() - began).toBeGreaterThan(300)
  expect((await fetch(`${controller.ready.console}/healthz`)).status).toBe(503)
  const [worst] = (await controller.rpc('overview.get', {})).attention
  expect(worst).toMatchObject({ level: 'error', code: 'databaseRefused' })
  await server.launch()
  await vi.waitFor(async () => expect((await fetch(`${controller.ready.console}/healthz`)).status).toBe(200), 10_000)
  const later = await api.createRoom()
  expect(await ret('/rtc/room/get', { room_id: 'away' })).toBe(404)
  expect(await controller.stop()).toBe(0)

  const again = await startHeadless({ folder, site, env: { ROOMDESK_STORE: database } })
  const last = new ApiClient(again.ready, credential)
  await last.authenticate()
  for (const id of [room, later]) expect((await last.get('/rtc/room/get', { room_id: id })).ret).toBe(0)
  expect(await again.stop()).toBe(0)
  for (const { log } of [controller, again]) expect(log.join('\n')).not.toContain('a-password')
})

test('A database that cannot be used ends the start with one line that says what to mend, and no password', async () => {
  const folder = await temporaryFolder()
  for (const [store, said] of [
    [
      'postgres://ops:a-password@127.0.0.1:1/site',
      /^The database postgres:\/\/ops@127\.0\.0\.1:1\/site cannot be used .*--store/,
    ],
    ['mysql://ops:a-password@db/site', /^--store must be the address of a PostgreSQL database/],
  ] as const) {
    const { status, stderr } = spawnSync(process.execPath, [program, '--data-dir', folder, '--store', store], {
      encoding: 'utf8',
    })
    expect(status).toBe(1)
    expect(stderr.trim().split('\n')).toHaveLength(1)
    expect(stderr).toMatch(said)
    expect(stderr).not.toContain('a-password')
  }
})
