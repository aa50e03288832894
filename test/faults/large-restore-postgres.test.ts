import { expect, test } from 'vitest'
import { fillLargeSite, largeSiteRooms } from '../support/sites/large-site.ts'
import { createRoom, open, temporaryFolder } from '../support/sites/store-site.ts'
import { databaseSite, postgresOfFile } from '../server/store/drivers.ts'

const postgres = postgresOfFile()

test('A restore of a large site is stored in several parts that take effect together, and every other change continues after it', async () => {
  const server = await postgres()
  const { database, folder, schema } = await databaseSite(server)
  const store = await open(folder, { database })
  const first = await fillLargeSite(store, 'First')
  await fillLargeSite(store, 'Second')
  await store.restore.run(first)
  expect(store.get('rooms', 'room-29999')?.topic).toMatch(/^First 29999 /)
  await createRoom(store, 'after')
  const [longest] = await server.query<{ bytes: number; lines: number }>(
    `select max(octet_length(line)) as bytes, count(*)::integer as lines from ${schema}.roomdesk_journal where seq > 60`,
  )
  expect(longest?.bytes).toBeLessThan(20_000)
  expect(longest?.lines).toBeGreaterThan(500)
  expect(await server.query(`select 1 from ${schema}.roomdesk_journal where seq < 0`)).toEqual([])
  await store.close()
  const again = await open(await temporaryFolder(), { database })
  expect(again.all('rooms').size).toBe(largeSiteRooms + 1)
  expect(again.get('rooms', 'room-7')?.topic).toMatch(/^First 7 /)
  await again.close()
})
