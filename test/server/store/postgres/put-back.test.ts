import { recordLosses } from '../../../../server/cluster/site-membership.ts'
import { expect, test, vi } from 'vitest'
import type { Store } from '../../../../server/store/store.ts'
import { createRoom, temporaryFolder } from '../../../support/sites/store-site.ts'
import { siteOfControllers, type TestController, type TestSite } from '../../../support/sites/member-site.ts'
import { postgresOfFile } from '../drivers.ts'

const postgres = postgresOfFile()

const rooms = (controller: TestController): string[] => [...controller.member.followed.all('rooms').keys()]

/** A logger, and the warnings that it was given. */
function heard() {
  const warnings: string[] = []
  const warn = (_: object, message: string): void => void warnings.push(message)
  return { warnings, logger: { info: () => undefined, error: () => undefined, warn } }
}

/** Takes a dump of the site's tables. @returns what puts them back */
async function dump({ server, schema }: TestSite): Promise<() => Promise<void>> {
  const tables = ['roomdesk_leader', 'roomdesk_journal', 'roomdesk_term']
  for (const table of tables) await server.query(`create table ${schema}.old_${table} as table ${schema}.${table}`)
  const putBack = tables.map(
    (table) => `delete from ${schema}.${table}; insert into ${schema}.${table} select * from ${schema}.old_${table}`,
  )
  // Made at the end of a controller.
  const snapshots = `delete from ${schema}.roomdesk_snapshot`
  return async () => void (await server.query([snapshots, ...putBack].join(';\n')))
}

/** Number of the last stored line. */
async function lastLine({ server, schema }: TestSite): Promise<number> {
  const [row] = await server.query<{ seq: string }>(`select max(seq) as seq from ${schema}.roomdesk_journal`)
  return Number(row?.seq)
}

/** Changes something until snapshots have replaced all lines up to one. The store writes a snapshot after each change. */
async function replaceLines({ server, schema }: TestSite, store: Store, last: number): Promise<void> {
  await expect
    .poll(
      async () => {
        await createRoom(store, `after-${Math.random()}`)
        return await server.query(`select from ${schema}.roomdesk_journal where seq <= ${last}`)
      },
      { timeout: 60_000 },
    )
    .toEqual([])
}

test('A dump is restored while all controllers are stopped: room numbers issued since are not reused', async () => {
  const site = await siteOfControllers(await postgres())
  const folder = await temporaryFolder()
  const first = await site.controller('first', { folder })
  const led = await first.lead()
  await createRoom(led, 'before')
  const putBack = await dump(site)
  for (let i = 0; i < 400; i++) await createRoom(led, `since-${i}`)
  const given = Math.max(...[...led.all('rooms').values()].map(({ id }) => id))
  await first.close()
  await putBack()
  const again = await site.controller('first', { folder })
  const store = await again.lead()
  expect([...store.all('rooms').keys()]).toEqual(['before'])
  expect(store.nextRoomNumber()).toBeGreaterThan(given)
})

test('A dump is restored after a change of leader, and another controller leads: a replica detects different lines with the same number and epoch, and reports it', async () => {
  const site = await siteOfControllers(await postgres())
  const first = await site.controller('first')
  await createRoom(await first.lead(), 'before')
  await first.close()
  const putBack = await dump(site)
  const second = await site.controller('second')
  const lost = await second.lead()
  await createRoom(lost, 'lost')
  const { warnings, logger } = heard()
  const replica = await site.controller('replica', { logger })
  expect(rooms(replica)).toEqual(['before', 'lost'])
  // It hears nothing of what follows until it connects again.
  replica.proxy.closed = true
  replica.proxy.cut()
  second.proxy.closed = true
  second.proxy.cut()
  await putBack()
  const third = await site.controller('third')
  const store = await third.lead()
  expect(store.epoch).toBe(lost.epoch)
  await createRoom(store, 'after')
  replica.proxy.closed = false
  await vi.waitFor(() => expect(rooms(replica)).toEqual(['before', 'after']), { timeout: 20_000 })
  expect(warnings.join('\n')).toContain('came back without one change that was confirmed')
})

test('A dump is restored twice: if the leader had repaired the first restore, a replica that was cut off reads everything again', async () => {
  const site = await siteOfControllers(await postgres())
  const { warnings, logger } = heard()
  const first = await site.controller('first', { logger })
  const led = await first.lead()
  await createRoom(led, 'before')
  const putBack = await dump(site)
  await createRoom(led, 'lost')
  await putBack()
  first.proxy.cut()
  await vi.waitFor(() => expect(warnings.join('\n')).toContain('stored again'), { timeout: 20_000 })
  // The replica reads a snapshot alone, and no line.
  const replica = await site.controller('replica')
  expect(rooms(replica)).toEqual(['before', 'lost'])
  for (const { proxy } of [first, replica]) {
    proxy.closed = true
    proxy.cut()
  }
  await putBack()
  const third = await site.controller('third')
  await createRoom(await third.lead(), 'after')
  replica.proxy.closed = false
  await vi.waitFor(() => expect(rooms(replica)).toEqual(['before', 'after']), { timeout: 20_000 })
})

test('A dump older than the next leader is restored: the previous leader leads again, and reuses none of the numbers of that leader', async () => {
  const site = await siteOfControllers(await postgres())
  const folder = await temporaryFolder()
  const first = await site.controller('first', { folder })
  const led = await first.lead()
  await createRoom(led, 'before')
  const putBack = await dump(site)
  first.proxy.closed = true
  first.proxy.cut()
  const second = await site.controller('second')
  const store = await second.lead()
  const given = new Set(Array.from({ length: 50 }, () => store.nextRoomNumber()))
  await createRoom(store, 'lost')
  given.add(store.get('rooms', 'lost')?.id ?? 0)
  first.proxy.closed = false
  await led.fenced
  for (const { proxy } of [first, second]) {
    proxy.closed = true
    proxy.cut()
  }
  await first.close()
  await putBack()
  const again = await site.controller('first', { folder, before: first.member })
  const next = (await again.lead()).nextRoomNumber()
  expect(next).toBeGreaterThan(Math.max(...given))
})

test('A dump is restored, and a controller with less state than the previous leader leads: the previous leader reports the loss', async () => {
  const site = await siteOfControllers(await postgres())
  const folder = await temporaryFolder()
  const first = await site.controller('first', { folder })
  const led = await first.lead()
  await createRoom(led, 'before')
  const putBack = await dump(site)
  const { warnings: ofSecond, logger: toSecond } = heard()
  const second = await site.controller('second', {
    logger: toSecond,
    databaseDeadlines: { connect: 500, answer: 60_000 },
  })
  await createRoom(led, 'kept')
  await vi.waitFor(() => expect(rooms(second)).toEqual(['before', 'kept']))
  second.proxy.freeze(true)
  for (const room of ['lost-1', 'lost-2', 'lost-3']) await createRoom(led, room)
  first.proxy.closed = true
  first.proxy.cut()
  await putBack()
  const next = second.lead()
  second.proxy.freeze(false)
  await createRoom(await next, 'after')
  expect(ofSecond.join('\n')).toContain('stored again')
  first.proxy.closed = false
  await led.fenced
  await first.close()
  const { warnings, logger } = heard()
  const again = await site.controller('first', { folder, before: first.member, logger })
  await vi.waitFor(() => expect(rooms(again)).toEqual(['before', 'kept', 'after']))
  // The leader may store them again for a while.
  await vi.waitFor(() => expect(warnings.join('\n')).toMatch(/came back without (\d )?changes? that w/), {
    timeout: 20_000,
  })
  expect(warnings.join('\n')).toContain('came back without 3 changes that were confirmed since 20')
  expect(warnings.join('\n')).toContain('rooms/lost-1, rooms/lost-2, rooms/lost-3')
  // The event log of the site has it at once, although this controller does not lead, and once.
  const recorded: unknown[] = []
  const events = { append: (event: object) => void recorded.push(event) }
  for (let looks = 0; looks < 2; looks++) recordLosses(again.member, events)()
  expect(recorded).toEqual([
    expect.objectContaining({
      kind: 'store.noticed',
      params: expect.objectContaining({ lost: true, since: expect.any(Number) }),
    }),
  ])
})

test('A dump is restored, and snapshots of the next leader replaced the lines of the previous one: the previous leader reports what is lost, and since when', async () => {
  const site = await siteOfControllers(await postgres())
  const folder = await temporaryFolder()
  const first = await site.controller('first', { folder })
  const led = await first.lead()
  await createRoom(led, 'kept')
  const putBack = await dump(site)
  const before = Date.now()
  for (const room of ['lost-1', 'lost-2']) await createRoom(led, room)
  const after = Date.now()
  const last = await lastLine(site)
  first.proxy.closed = true
  first.proxy.cut()
  await putBack()
  const second = await site.controller('second', { snapshotAfterBytes: 1 })
  const next = await second.lead()
  await replaceLines(site, next, last)
  first.proxy.closed = false
  await led.fenced
  await first.close()
  const { warnings, logger } = heard()
  const again = await site.controller('first', { folder, before: first.member, logger })
  const losses: (number | undefined)[] = []
  again.member.onLost(({ since }) => void losses.push(since))
  await vi.waitFor(() => expect(warnings.join('\n')).toContain('came back without 2 changes that were confirmed since'))
  expect(losses).toHaveLength(1)
  expect(losses[0]).toBeGreaterThanOrEqual(before - 1_000)
  expect(losses[0]).toBeLessThanOrEqual(after)
})

test('A former leader reports no loss if others have led since, one of them without a change, and snapshots replaced its lines', async () => {
  const site = await siteOfControllers(await postgres())
  const folder = await temporaryFolder()
  const first = await site.controller('first', { folder })
  const led = await first.lead()
  for (const room of ['one', 'two']) await createRoom(led, room)
  const last = await lastLine(site)
  first.proxy.closed = true
  first.proxy.cut()
  const idle = await site.controller('idle')
  await idle.lead()
  await idle.close()
  const third = await site.controller('third', { snapshotAfterBytes: 1 })
  const next = await third.lead()
  await replaceLines(site, next, last)
  first.proxy.closed = false
  await led.fenced
  await first.close()
  const { warnings, logger } = heard()
  const again = await site.controller('first', { folder, before: first.member, logger })
  await vi.waitFor(() => expect(rooms(again)).toEqual(rooms(third)))
  expect(warnings.join('\n')).not.toContain('came back without')
})
