import { expect, onTestFinished, test, vi } from 'vitest'
import { type Headless, siteWithoutMedia, startHeadless } from '../../../support/headless.ts'
import { DatabaseProxy } from '../../../support/postgres/database-proxy.ts'
import { PostgresServer } from '../../../support/postgres/postgres-server.ts'

async function durableServer(): Promise<PostgresServer> {
  const server = await PostgresServer.start({ durable: true })
  onTestFinished(() => server.remove())
  return server
}

async function controllerOn(database: string): Promise<Headless> {
  const controller = await startHeadless({ site: siteWithoutMedia, flags: ['--store', database] })
  onTestFinished(() => controller.remove())
  return controller
}

/** Reads what the operator is told of the database's settings, and what monitoring reads. */
async function told(controller: Headless): Promise<{ codes: string[]; risks: string[]; metric: string }> {
  const { attention } = await controller.rpc('overview.get', {})
  const { medium } = await controller.rpc('controllers.list', {})
  const metrics = await (await fetch(`${controller.ready.console}/metrics`)).text()
  return {
    codes: attention.flatMap(({ code, level }) => (code.startsWith('database') ? [`${level} ${code}`] : [])).sort(),
    risks: medium.risks,
    metric: /^roomdesk_database_durable (\d)$/m.exec(metrics)?.[1] ?? '',
  }
}

/** Changes settings while the server runs. Connections are ended, as a restart ends them. */
async function set(server: PostgresServer, settings: Record<string, string>): Promise<void> {
  for (const [name, value] of Object.entries(settings)) await server.query(`alter system set ${name} = ${value}`)
  await server.query('select pg_reload_conf()')
  await server.query('select pg_sleep(0.2)')
  await server.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datid is not null',
  )
}

test('Settings that can lose confirmed changes are reported in the log, on the overview, with the controllers and in the metrics, until they are corrected', async () => {
  const server = await durableServer()
  const controller = await controllerOn(server.address(await server.newSchema()))
  expect(await told(controller)).toEqual({ codes: [], risks: [], metric: '1' })
  const risky = {
    fsync: 'off',
    full_page_writes: 'off',
    synchronous_commit: 'local',
    synchronous_standby_names: "'nobody'",
  }
  await set(server, risky)
  await vi.waitFor(
    async () =>
      expect(await told(controller)).toEqual({
        codes: ['error databaseFsyncOff', 'error databaseFullPageWritesOff', 'warning databaseLocalCommit'],
        risks: ['fsync', 'fullPageWrites', 'localCommit'],
        metric: '0',
      }),
    10_000,
  )
  const log = controller.log.join('\n')
  for (const sentence of ['runs with fsync=off', 'full_page_writes=off', 'synchronous_commit=local'])
    expect(log.split(sentence)).toHaveLength(2)
  await set(server, Object.fromEntries(Object.keys(risky).map((name) => [name, 'default'])))
  await vi.waitFor(async () => expect(await told(controller)).toEqual({ codes: [], risks: [], metric: '1' }), 10_000)
})

test('Several servers without a synchronous standby are reported at the start', async () => {
  const server = await durableServer()
  const servers = [await DatabaseProxy.open(server.socket), await DatabaseProxy.open(server.socket)]
  onTestFinished(() => Promise.all(servers.map((proxy) => proxy.close())).then(() => undefined))
  const database = server.address(await server.newSchema(), servers.map(({ host }) => host).join(','))
  const controller = await controllerOn(database)
  await vi.waitFor(async () =>
    expect(await told(controller)).toEqual({
      codes: ['warning databaseAsynchronous'],
      risks: ['asynchronous'],
      metric: '0',
    }),
  )
  expect(controller.log.join('\n')).toContain('none is a synchronous standby')
})
