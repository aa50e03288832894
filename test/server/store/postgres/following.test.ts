import { expect, test, vi } from 'vitest'
import { DatabaseError } from '../../../../server/store/postgres/database-error.ts'
import { createSealer } from '../../../../server/store/sealer.ts'
import { postgresOfFile } from '../drivers.ts'
import { createRoom, topics } from '../../../support/sites/store-site.ts'
import { siteOfControllers, type TestController, type TestSite } from '../../../support/sites/member-site.ts'

const postgres = postgresOfFile()
const newSite = async (): Promise<TestSite> => await siteOfControllers(await postgres())

const rooms = (controller: TestController): string[] => [...controller.member.followed.all('rooms').keys()]

test('A replica follows change by change, in order, and reports its lag', async () => {
  const site = await newSite()
  const first = await site.controller('first')
  const led = await first.lead()
  await createRoom(led, 'made before')
  const second = await site.controller('second')
  expect(rooms(second)).toEqual(['made before'])
  const heard: string[] = []
  second.member.followed.onChange((changes) => heard.push(...changes.map(({ key }) => key)))
  const names = Array.from({ length: 500 }, (_, i) => `room-${i}`)
  await Promise.all(names.map((name) => createRoom(led, name)))
  await vi.waitFor(() => expect(heard).toEqual(names))
  expect(second.member.followed.get('rooms', 'room-7')).toEqual(led.get('rooms', 'room-7'))
  const since = Date.now()
  await vi.waitFor(async () => {
    const known = await first.member.controllers()
    expect(known).toMatchObject([
      { name: 'first', role: 'leader', behind: 0, version: '1.2.3' },
      { name: 'second', role: 'standby', behind: 0, behindFor: 0 },
    ])
    // It has reported since it received the last change.
    expect(known[1]?.seenAt).toBeGreaterThan(since + 20)
  })
  // A silent controller lacks the changes stored since.
  second.proxy.freeze(true)
  for (let i = 0; i < 3; i++) await createRoom(led, `missed-${i}`)
  await vi.waitFor(
    async () => expect((await first.member.controllers())[1]).toMatchObject({ name: 'second', behind: 3 }),
    { timeout: 3_000 },
  )
  expect((await first.member.controllers())[1]?.behindFor).toBeGreaterThan(0)
  second.proxy.freeze(false)
  await vi.waitFor(() => expect(rooms(second)).toHaveLength(504), { timeout: 3_000 })
})

test('A replica that was away while the journal was truncated continues from the newest snapshot, and reports the changes', async () => {
  const site = await newSite()
  const first = await site.controller('first')
  const led = await first.lead()
  for (const name of ['stays', 'changes', 'goes']) await createRoom(led, name)
  const second = await site.controller('second')
  second.proxy.closed = true
  second.proxy.cut()
  await led.transact([], (transaction) => transaction.delete('rooms', 'goes'))
  await createRoom(led, 'changes', 'Another topic')
  for (let i = 0; i < 3; i++) {
    await createRoom(led, `room-${i}`)
    await led.backups.make()
  }
  expect(await site.server.query(`select 1 from ${site.schema}.roomdesk_journal`)).toHaveLength(1)
  const heard = new Map<string, unknown>()
  second.member.followed.onChange((changes) => {
    for (const { key, value } of changes) heard.set(key, value)
  })
  second.proxy.closed = false
  await vi.waitFor(() => expect(heard.size).toBe(5), { timeout: 3_000 })
  expect(heard.get('goes')).toBeUndefined()
  expect([...heard.keys()].sort()).toEqual(['changes', 'goes', 'room-0', 'room-1', 'room-2'])
  expect(Object.fromEntries(second.member.followed.all('rooms'))).toEqual(Object.fromEntries(led.all('rooms')))
  // Truncating the journal while it follows does not affect it.
  heard.clear()
  for (let i = 0; i < 3; i++) await led.backups.make()
  await createRoom(led, 'last')
  await vi.waitFor(() => expect([...heard.keys()]).toEqual(['last']))
})

test('The database restarts: the leader keeps its role, and replicas continue where they were', async () => {
  const site = await newSite()
  const first = await site.controller('first')
  const led = await first.lead()
  const second = await site.controller('second')
  const next = second.lead()
  next.catch(() => undefined)
  await createRoom(led, 'before')
  await site.server.signal('SIGINT')
  const meanwhile = createRoom(led, 'meanwhile')
  await site.server.launch()
  await meanwhile
  await vi.waitFor(() => expect(rooms(second)).toEqual(['before', 'meanwhile']), { timeout: 3_000 })
  await first.close()
  expect(Object.keys(topics(await next))).toEqual(['before', 'meanwhile'])
})

/** A replica that has followed three lines, and whose leader is gone. */
async function leftAlone(): Promise<{ site: TestSite; second: TestController }> {
  const site = await newSite()
  const first = await site.controller('first')
  const led = await first.lead()
  for (const name of ['1', '2', '3']) await createRoom(led, name)
  const second = await site.controller('second')
  first.proxy.closed = true
  first.proxy.cut()
  return { site, second }
}

test('A journal line replaced by another program is detected: the replica reloads its memory', async () => {
  const { site, second } = await leftAlone()
  // As after a failover of the database that lost the last line, with another leader that stored one under its number.
  await site.server.query(
    `delete from ${site.schema}.roomdesk_journal where seq = 3;
     insert into ${site.schema}.roomdesk_journal (seq, epoch, records, line)
       select 3, epoch + 5, records, line from ${site.schema}.roomdesk_journal where seq = 2`,
  )
  await vi.waitFor(() => expect(rooms(second)).toEqual(['1', '2']), { timeout: 3_000 })
  await createRoom(await second.lead(), '4')
  expect(rooms(second)).toEqual(['1', '2', '4'])
})

test('A database that returns without the newest changes gets them again from the next leader', async () => {
  const { site, second } = await leftAlone()
  await site.server.query(`delete from ${site.schema}.roomdesk_journal where seq >= 2`)
  const store = await second.lead()
  await createRoom(store, '4')
  expect(store.status().notices.map(({ code }) => code)).toContain('recovered')
  const third = await site.controller('third')
  expect(rooms(third)).toEqual(['1', '2', '3', '4'])
})

test('Another key, or an invalid database, ends the start; one that is away can be awaited', async () => {
  const site = await newSite()
  const first = await site.controller('first')
  const led = await first.lead()
  await createRoom(led, '1')
  await expect(site.controller('stranger', { sealer: createSealer(Buffer.alloc(32, 8)) })).rejects.toThrow(
    /sealed with another key.*seal\.key/,
  )
  const database = 'postgres://ops:s3cret@127.0.0.1:1/site'
  const refused = site.controller('lost', { database })
  await expect(refused).rejects.toBeInstanceOf(DatabaseError)
  await expect(refused).rejects.toThrow(/ops@127\.0\.0\.1:1\/site .*ECONNREFUSED.*--store/)
  first.proxy.closed = true
  const waiting = await site.controller('waiting', {
    database: site.server.address(site.schema, first.proxy.host),
    whenAway: 'wait',
  })
  expect(waiting.member.database().awaySince).toBeGreaterThan(0)
  expect(rooms(waiting)).toEqual([])
  first.proxy.closed = false
  await vi.waitFor(() => expect(rooms(waiting)).toEqual(['1']), { timeout: 3_000 })
})
