import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { applySiteFile } from '../../../../server/controller/site-file.ts'
import { siteFileSchema } from '../../../../shared/site-file.ts'
import { openStore } from '../../../../server/store/open-store.ts'
import { loadKeyFile } from '../../../../server/store/files/key-file.ts'
import { createSealer } from '../../../../server/store/sealer.ts'
import { ApiClient } from '../../../support/api-client.ts'
import { startHeadless } from '../../../support/headless.ts'
import { postgresOfFile } from '../drivers.ts'
import { createRoom, temporaryFolder } from '../../../support/sites/store-site.ts'
import { built } from '../../../support/built.ts'

const postgres = postgresOfFile()
const credential = { label: 'Lab', access_key: 'lab', secret_key: 'lab-secret' }
const settings = { deadlines: { store_ms: 500 } }
const site = { credentials: [credential], nodes: [{ name: 'lab', kind: 'simulated' }], settings }
const program = built('server/headless.js')

test('A site moved into PostgreSQL continues there; while the database is away it answers reads, refuses changes with 700, and recovers without help', async () => {
  const server = await postgres()
  const schema = await server.newSchema()
  const database = server.address(schema)
  const folder = await temporaryFolder()
  const inFiles = await openStore({ folder, sealer: createSealer(await loadKeyFile(join(folder, 'seal.key'))) })
  await applySiteFile(inFiles, siteFileSchema.parse(site))
  await createRoom(inFiles, '123456789')
  await inFiles.close()

  const move = ['--data-dir', folder, '--move-store', 'database', '--store', database]
  const moved = spawnSync(process.execPath, [program, ...move], { encoding: 'utf8' })
  expect(moved).toMatchObject({ status: 0, stdout: expect.stringContaining('every record was compared') as string })
  const refused = spawnSync(process.execPath, [program, '--data-dir', folder], { encoding: 'utf8' })
  expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining('was moved to postgres://') as string })

  // Named by the site file.
  const controller = await startHeadless({ folder, site: { ...site, store: database } })
  const api = new ApiClient(controller.ready, credential)
  await api.authenticate()
  const ret = async (path: string, query: Record<string, string | number>) => (await api.get(path, query)).ret
  expect(await ret('/rtc/room/get', { room_id: '123456789' })).toBe(0)
  await server.signal('SIGINT')
  expect(await ret('/rtc/room/get', { room_id: '123456789' })).toBe(0)
  const began = performance.now()
  expect(await ret('/rtc/room/create', { topic: 'Away', owner_id: 'o', room_mode: 1, room_extend_id: 'away' })).toBe(
    700,
  )
  expect(performance.now() - began).toBeGreaterThan(300)
  expect((await fetch(`${controller.ready.console}/healthz`)).status).toBe(503)
  // A client that authenticates for each call reads on, and its token outlives the outage.
  const perCall = new ApiClient(controller.ready, credential)
  expect((await perCall.authenticate()).ret).toBe(0)
  expect((await perCall.get('/rtc/room/get', { room_id: '123456789' })).ret).toBe(0)
  expect(controller.log.join('\n')).toContain('kept in memory')
  const [worst] = (await controller.rpc('overview.get', {})).attention
  expect(worst).toMatchObject({ level: 'error', code: 'databaseAway' })
  await server.launch()
  await vi.waitFor(async () => expect((await fetch(`${controller.ready.console}/healthz`)).status).toBe(200), 10_000)
  const later = await api.createRoom()
  expect(await ret('/rtc/room/get', { room_id: 'away' })).toBe(404)
  expect(await ret('/rtc/room/get', { room_id: later })).toBe(0)
  expect((await perCall.get('/rtc/room/get', { room_id: later })).ret).toBe(0)
  const stored = `select count(*)::int as count from ${schema}.roomdesk_journal where line like '%"sessions"%'`
  await vi.waitFor(async () => expect(await server.query(stored)).toEqual([{ count: 2 }]))
  expect(await controller.stop()).toBe(0)
  expect(controller.log.join('\n')).not.toContain('a-password')
})

test('An unusable database ends the start with one line that says what to correct, and no password', async () => {
  const folder = await temporaryFolder()
  for (const [store, said] of [
    [
      'postgres://ops:a-password@127.0.0.1:1/site',
      /^The database postgres:\/\/ops@127\.0\.0\.1:1\/site cannot be used .*--store/,
    ],
    ['mysql://ops:a-password@db/site', /^The address of the database must be written as --store postgres/],
  ] as const) {
    const env = { ...process.env, ROOMDESK_STORE: store }
    const { status, stderr } = spawnSync(process.execPath, [program, '--data-dir', folder], { encoding: 'utf8', env })
    expect(status).toBe(1)
    expect(stderr.trim().split('\n')).toHaveLength(1)
    expect(stderr).toMatch(said)
    expect(stderr).not.toContain('a-password')
  }
})
