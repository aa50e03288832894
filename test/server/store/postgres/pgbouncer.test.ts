import { expect, onTestFinished, test, vi } from 'vitest'
import { postgresOfFile } from '../drivers.ts'
import { type PoolMode, startPgBouncer } from '../../../support/postgres/pgbouncer.ts'
import { siteOfControllers, type TestSite } from '../../../support/sites/member-site.ts'
import { createRoom } from '../../../support/sites/store-site.ts'

const postgres = postgresOfFile()

async function siteBehind(poolMode: PoolMode): Promise<{ site: TestSite; database: string }> {
  const server = await postgres()
  const site = await siteOfControllers(server)
  const pool = await startPgBouncer(server, site.schema, poolMode)
  onTestFinished(() => pool.stop())
  return { site, database: pool.address }
}

test('Behind a session pool a site runs, and can be handed over', async () => {
  const { site, database } = await siteBehind('session')
  const first = await site.controller('first', { database })
  await createRoom(await first.lead(), 'behind a pool')
  const second = await site.controller('second', { database })
  const next = second.lead()
  await first.close()
  await createRoom(await next, 'behind it still')
  await vi.waitFor(() =>
    expect([...second.member.followed.all('rooms').keys()]).toEqual(['behind a pool', 'behind it still']),
  )
})

test.each(['transaction', 'statement'] as const)(
  'A pool that gives each %s another connection is refused at the start, with what to mend',
  async (poolMode) => {
    const { site, database } = await siteBehind(poolMode)
    await expect(site.controller('first', { database })).rejects.toThrow(/pool_mode = session/)
  },
)
