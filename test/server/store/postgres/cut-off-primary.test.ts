import { Client } from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { postgresOfFile } from '../drivers.ts'
import { createRoom } from '../../../support/sites/store-site.ts'
import { siteOfControllers } from '../../../support/sites/member-site.ts'

const postgres = postgresOfFile()

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
  const admin = new Client({ connectionString: server.address('public') })
  await admin.connect()
  onTestFinished(() => admin.end())
  const standbys = async (names: string): Promise<void> => {
    await admin.query(`alter system set synchronous_standby_names = '${names}'`)
    await admin.query('select pg_reload_conf()')
  }
  // It takes part in no replication, so each commit waits for it.
  await standbys('nobody')
  onTestFinished(() => standbys(''))
  await vi.waitFor(() => expect(led.confirmed()).toBeInstanceOf(Promise), { timeout: 5_000 })
  let answered = false
  const read = led.confirmed()?.then(() => (answered = true))
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(answered).toBe(false)
  await standbys('')
  await read
  await createRoom(led, 'after')
}, 30_000)
