import { Client } from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { DatabaseProxy } from '../../../support/postgres/database-proxy.ts'
import { postgresOfFile } from '../drivers.ts'
import { createRoom } from '../../../support/sites/store-site.ts'
import { siteOfControllers } from '../../../support/sites/member-site.ts'
import { quietTime } from '../../../support/quiet-time.ts'

const postgres = postgresOfFile()

type Server = Awaited<ReturnType<ReturnType<typeof postgresOfFile>>>

/** Lets each commit wait for these standbys from now on; for none at the end of the test. */
async function standbysOf(server: Server): Promise<(names: string) => Promise<void>> {
  const admin = new Client({ connectionString: server.address('public') })
  await admin.connect()
  onTestFinished(() => admin.end())
  const standbys = async (names: string): Promise<void> => {
    await admin.query(`alter system set synchronous_standby_names = '${names}'`)
    await admin.query('select pg_reload_conf()')
  }
  onTestFinished(() => standbys(''))
  return standbys
}

test('A primary cut off from its synchronous standbys confirms no lease: reads wait until it confirms again', async () => {
  const server = await postgres()
  const site = await siteOfControllers(server)
  // Another controller reaches a database, perhaps the new primary.
  const askOthers = (): Promise<{ reachDatabase: boolean; unproven: boolean }> =>
    Promise.resolve({ reachDatabase: true, unproven: false })
  const first = await site.controller('first', { askOthers })
  const led = await first.lead()
  await createRoom(led, 'before')
  await led.confirmed()
  const standbys = await standbysOf(server)
  // It takes part in no replication, so each commit waits for it.
  await standbys('nobody')
  await vi.waitFor(() => expect(led.confirmed()).toBeInstanceOf(Promise), { timeout: 5_000 })
  let answered = false
  const read = led.confirmed()?.then(() => (answered = true))
  await quietTime(300)
  expect(answered).toBe(false)
  await standbys('')
  await read
  await createRoom(led, 'after')
}, 30_000)

test('A replica of a database with several servers leaves an old primary that answers without confirming, before it tries to lead there', async () => {
  const server = await postgres()
  const site = await siteOfControllers(server)
  const first = await site.controller('first')
  await createRoom(await first.lead(), 'before')
  const other = await DatabaseProxy.open(server.socket)
  onTestFinished(() => other.close())
  const replica = await site.controller('replica', {
    database: ({ host }) => server.address(site.schema, `${host},${other.host}`),
  })
  const standbys = await standbysOf(server)
  await standbys('nobody')
  replica.proxy.cut()
  await vi.waitFor(() => expect(replica.member.database().error).toContain('has not answered'), { timeout: 5_000 })
  await standbys('')
  await vi.waitFor(() => expect(replica.member.database().awaySince).toBe(0), { timeout: 5_000 })
}, 30_000)
