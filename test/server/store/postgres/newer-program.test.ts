import pg from 'pg'
import { pino } from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import { migrations } from '../../../../server/store/migrations.ts'
import { postgresOfFile } from '../drivers.ts'
import { siteOfControllers, type TestController, type TestSite } from '../../../support/sites/member-site.ts'
import { createRoom } from '../../../support/sites/store-site.ts'
import { quietTime } from '../../../support/quiet-time.ts'

const postgres = postgresOfFile()
const newSite = async (): Promise<TestSite> => await siteOfControllers(await postgres())
const rooms = (controller: TestController): string[] => [...controller.member.followed.all('rooms').keys()]
const newer = { current: migrations.current + 1, steps: new Map([...migrations.steps, [migrations.current, same]]) }

function same<T>(record: T): T[] {
  return [record]
}

/** A log whose lines are kept. */
function keptLog(): { logger: pino.Logger; lines: string[] } {
  const lines: string[] = []
  return { logger: pino({ level: 'warn' }, { write: (line) => lines.push(line) }), lines }
}

test('A newer Roomdesk extended the tables: an older replica says so, keeps following, and does not lead', async () => {
  const site = await newSite()
  const first = await site.controller('first')
  const led = await first.lead()
  const { logger, lines } = keptLog()
  const older = await site.controller('older', { logger })
  const next = older.lead()
  next.catch(() => undefined)
  await site.server.query(`update ${site.schema}.roomdesk_site set tables = 99`)
  older.proxy.cut()
  await vi.waitFor(() => expect(lines.join('\n')).toMatch(/version 99.*stays a replica/))
  await createRoom(led, 'afterwards')
  await vi.waitFor(() => expect(rooms(older)).toEqual(['afterwards']), { timeout: 3_000 })
  // A controller of the older version that starts now can follow as well.
  const another = await site.controller('another')
  expect(rooms(another)).toEqual(['afterwards'])
  await first.close()
  const locks = `select 1 from pg_locks where locktype = 'advisory' and granted and pid <> pg_backend_pid()`
  await vi.waitFor(async () => expect(await site.server.query(locks)).toEqual([]))
  await createRoom(await takenBack(site, older, next), 'led again')
  expect(rooms(older)).toEqual(['afterwards', 'led again'])
})

/** The operator installs the newer version nowhere: the tables are those of before, and the controller connects again. */
async function takenBack<T>(site: TestSite, { proxy }: TestController, next: Promise<T>): Promise<T> {
  const epoch = `select epoch from ${site.schema}.roomdesk_leader`
  const [before] = await site.server.query<{ epoch: string }>(epoch)
  // Long enough that it would have led.
  await quietTime(1_000)
  expect(await site.server.query(epoch)).toEqual([before])
  await site.server.query(`update ${site.schema}.roomdesk_site set tables = 2`)
  proxy.cut()
  return await next
}

test('A newer Roomdesk stores newer records: an older replica keeps its state, knows the leader, and does not lead', async () => {
  const site = await newSite()
  const first = await site.controller('first')
  await createRoom(await first.lead(), 'before')
  const { logger, lines } = keptLog()
  const older = await site.controller('older', { logger })
  const next = older.lead()
  next.catch(() => undefined)
  const second = await site.controller('second', { migrations: newer })
  const ledBySecond = second.lead()
  // Once it has its row.
  await vi.waitFor(() => first.member.handOver(second.member.id))
  await createRoom(await ledBySecond, 'newer')
  await vi.waitFor(() => expect(lines.join('\n')).toMatch(/newer Roomdesk.*stays a replica/))
  await vi.waitFor(() => expect(older.member.leader()?.name).toBe('second'))
  expect(rooms(older)).toEqual(['before'])
  const third = await site.controller('third', { migrations: newer })
  const ledByThird = third.lead()
  await second.close()
  await createRoom(await ledByThird, 'newer still')
  await vi.waitFor(() => expect(older.member.leader()?.name).toBe('third'))
})

test('While a pg_dump reads the tables, a start that extends them blocks no other controller', async () => {
  const site = await newSite()
  const first = await site.controller('first')
  await createRoom(await first.lead(), 'stored')
  await first.close()
  const { schema, server } = site
  // As the version before has left them.
  await server.query(
    `alter table ${schema}.roomdesk_journal drop column term;
     alter table ${schema}.roomdesk_leader drop column term, drop column room_numbers;
     alter table ${schema}.roomdesk_site drop column additions`,
  )
  const [dump, appends] = [new pg.Client(server.address(schema)), new pg.Client(server.address(schema))]
  onTestFinished(async () => {
    await dump.end()
    await appends.end()
  })
  await Promise.all([dump.connect(), appends.connect()])
  await dump.query('begin; select * from roomdesk_journal')
  const opened = site.controller('second')
  await appends.query('set lock_timeout = 500')
  const waits = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%add column%'`
  await vi.waitFor(async () => expect(await server.query(waits)).toHaveLength(1), { timeout: 5_000, interval: 20 })
  const append = `insert into roomdesk_journal (seq, epoch, records, line) select max(seq) + 1, 1, 4, '' from roomdesk_journal`
  for (let i = 0; i < 5; i++) await appends.query(append)
  await appends.query(`delete from roomdesk_journal where line = ''`)
  await dump.query('commit')
  expect(rooms(await opened)).toEqual(['stored'])
})
