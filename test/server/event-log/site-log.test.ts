import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { EventEntry } from '../../../shared/domain/events.ts'
import type { LogBounds } from '../../../server/event-log/segments.ts'
import { SiteLog } from '../../../server/event-log/site/site-log.ts'
import { createLog } from '../../../server/observe/log.ts'
import { eventsFolder } from '../../../server/store/backups/backup-events.ts'
import { parseDatabaseAddress } from '../../../server/store/postgres/database-address.ts'
import { DatabaseSession } from '../../../server/store/postgres/database-session.ts'
import { bringTables } from '../../../server/store/postgres/schema.ts'
import { joined, openLog } from '../../support/sites/event-log-site.ts'
import { sealer, temporaryFolder } from '../../support/sites/store-site.ts'
import { DatabaseProxy } from '../../support/postgres/database-proxy.ts'
import { postgresOfFile } from '../store/drivers.ts'

const postgres = postgresOfFile()

/** Controllers of one site. */
async function site() {
  const server = await postgres()
  const schema = await server.newSchema()
  const address = parseDatabaseAddress(server.address(schema))
  const session = await DatabaseSession.open(address)
  onTestFinished(() => session.close())
  await bringTables(session, address)
  const query = async <R extends object>(text: string): Promise<R[]> => (await session.query<R>(text)).rows
  let bounds: LogBounds = { days: 90, megabytes: 200 }
  const controller = async (name: string, { folder = '', id = randomUUID() } = {}) => {
    const data = folder === '' ? await temporaryFolder() : folder
    const proxy = await DatabaseProxy.open(server.socket)
    const way = parseDatabaseAddress(server.address(schema, proxy.host))
    const own = await openLog(data, { gatherMs: 5 })
    const log = new SiteLog({
      own,
      connect: () => DatabaseSession.open(way, { connect: 500, answer: 1_000 }),
      controller: { id, name },
      sealer,
      logger: createLog('silent'),
      bounds: () => bounds,
    })
    onTestFinished(async () => {
      await log.close()
      await proxy.close()
    })
    return { id, name, folder: data, own, log, proxy }
  }
  const keep = (kept: LogBounds): void => void (bounds = kept)
  return { server, schema, controller, query, keep }
}

/** Lists who joined at which controller, oldest first. */
async function people(log: SiteLog): Promise<string[]> {
  const { items } = await log.query({ limit: 1_000 })
  return items
    .filter(({ kind }) => kind === 'person.joined')
    .map(({ subject, controller }) => `${subject.id} at ${controller?.name ?? '?'}`)
    .reverse()
}

const range = (from: number, to: number): string[] => Array.from({ length: to - from }, (_, at) => `p${from + at}`)

test('The log of a site is one chain over its controllers, and a lost machine takes no entry with it', async () => {
  const { controller } = await site()
  const a = await controller('a')
  const b = await controller('b')
  for (const id of ['ann', 'bo']) a.log.append(joined(id))
  await a.log.flush()
  b.log.append(joined('cy'))
  await b.log.flush()
  a.log.append(joined('di'))
  await a.log.flush()
  // Machine a is gone with its disk.
  await a.log.close()
  await rm(a.folder, { recursive: true })
  expect(await people(b.log)).toEqual(['ann at a', 'bo at a', 'cy at b', 'di at a'])
  b.log.append(joined('ed'))
  const { items } = await b.log.query({ limit: 1_000 })
  const numbers = items.map(({ seq }) => seq)
  expect(numbers).toEqual(numbers.map((_, at) => numbers.length - at))
  for (const [at, { prev }] of items.slice(0, -1).entries()) expect(prev).toBe(items[at + 1]?.hash)
  expect(await b.log.verify()).toMatchObject({ ok: true, entries: items.length, newest: items.length })
})

test('Entries of an outage of the database are copied once it is over; until then a controller shows its own', async () => {
  const { controller } = await site()
  const a = await controller('a')
  const b = await controller('b')
  b.log.append(joined('before'))
  await b.log.flush()
  a.proxy.closed = true
  a.proxy.cut()
  for (const id of range(0, 1_200)) a.log.append(joined(id))
  const { items } = await a.log.query({ limit: 2 })
  expect(items.map(({ subject }) => subject.id)).toEqual(['p1199', 'p1198'])
  expect(a.log.status()).toMatchObject({ healthy: true, lost: 0 })
  a.proxy.closed = false
  // The newest thousand.
  const copied = range(200, 1_200).map((id) => `${id} at a`)
  await vi.waitFor(async () => expect(await people(b.log)).toEqual(copied), { timeout: 10_000, interval: 200 })
  expect(await b.log.verify()).toMatchObject({ ok: true })
})

test('A controller that restarts continues its log, and no entry is duplicated', async () => {
  const { controller } = await site()
  const first = await controller('a')
  for (const id of range(0, 700)) first.log.append(joined(id))
  await first.log.close()
  const again = await controller('a', first)
  again.log.append(joined('last'))
  await again.log.flush()
  expect(await people(again.log)).toEqual([...range(0, 700), 'last'].map((id) => `${id} at a`))
  // Its own log was deleted: what is new is copied, and what was copied is not again.
  await again.log.close()
  await rm(join(first.folder, eventsFolder), { recursive: true })
  const bare = await controller('a', first)
  bare.log.append(joined('new'))
  await bare.log.flush()
  expect(await people(bare.log)).toEqual([...range(0, 700), 'last', 'new'].map((id) => `${id} at a`))
  expect(await bare.log.verify()).toMatchObject({ ok: true })
})

test('A database restored to an older state receives its lost entries again, and the log says so', async () => {
  const { controller, query } = await site()
  const a = await controller('a')
  const b = await controller('b')
  a.log.append(joined('ann'))
  await a.log.flush()
  for (const table of ['', '_head', '_source'])
    await query(`create table older${table} as select * from roomdesk_event${table}`)
  for (const id of range(0, 20)) a.log.append(joined(id))
  await a.log.flush()
  b.log.append(joined('bo'))
  await b.log.flush()
  await query(`begin; delete from roomdesk_event; delete from roomdesk_event_head; delete from roomdesk_event_source;
    insert into roomdesk_event select * from older; insert into roomdesk_event_head select * from older_head;
    insert into roomdesk_event_source select * from older_source; commit`)
  a.log.append(joined('cy'))
  b.log.append(joined('di'))
  await a.log.flush()
  await b.log.flush()
  await a.log.flush()
  expect((await people(a.log)).sort()).toEqual(
    ['ann at a', ...range(0, 20).map((id) => `${id} at a`), 'bo at b', 'cy at a', 'di at b'].sort(),
  )
  const { items } = await b.log.query({ limit: 100 })
  const told = items.filter(({ kind }) => kind === 'log.recovered')
  expect(told.map(({ params, controller: at }) => `${params.fault} ${at?.name}`).sort()).toEqual([
    'shortened a',
    'shortened b',
  ])
  expect(await b.log.verify()).toMatchObject({ ok: true })
})

test.each([
  ['an entry was changed', `update roomdesk_event set line = replace(line, 'p4', 'p5') where seq = 6`, 'changed', 6],
  ['an entry was removed', 'delete from roomdesk_event where seq = 6', 'missing', 6],
  ['the end was cut off', 'delete from roomdesk_event where seq > 6', 'cutOff', 7],
  ['the beginning was removed', 'delete from roomdesk_event where seq < 6', 'missing', 1],
  ['the seal was removed', 'delete from roomdesk_event_head', 'headMissing', 1],
  ['the seal was changed', `update roomdesk_event_head set proof = 'x'`, 'headForged', 1],
] as const)('Whoever changes the log in the database is found: %s', async (_, statement, fault, firstBad) => {
  const { controller, query } = await site()
  const a = await controller('a')
  for (const id of range(0, 20)) a.log.append(joined(id))
  await a.log.flush()
  expect(await a.log.verify()).toMatchObject({ ok: true })
  await query(statement)
  expect(await a.log.verify()).toMatchObject({ ok: false, fault, first_bad: firstBad })
  // It goes on, and every later check finds it.
  a.log.append(joined('later'))
  await a.log.flush()
  expect(await a.log.verify()).toMatchObject({ ok: false })
})

test('The oldest entries are deleted after their retention or above the size limit, and the log stays valid', async () => {
  const { controller, keep, query } = await site()
  const a = await controller('a')
  for (const id of range(0, 400)) a.log.append(joined(id))
  await a.log.flush()
  const [head] = await query<{ bytes: string }>('select bytes from roomdesk_event_head')
  const bytes = Number(head?.bytes)
  expect(bytes).toBeGreaterThan(400 * 300)
  keep({ days: 90, megabytes: bytes / 4 / 1_000_000 })
  await a.log.clear()
  const { kept, items } = await a.log.query({ limit: 1_000 })
  expect(kept).toBe(items.length)
  expect(kept).toBeGreaterThan(80)
  expect(kept).toBeLessThan(120)
  expect(await a.log.verify()).toMatchObject({ ok: true, entries: kept, newest: 401 })
  keep({ days: -1, megabytes: 200 })
  await a.log.clear()
  expect(await a.log.verify()).toMatchObject({ ok: true, entries: 1, newest: 401 })
  a.log.append(joined('next'))
  await a.log.flush()
  expect(await a.log.verify()).toMatchObject({ ok: true, entries: 2, newest: 402 })
})

test('A line added after the seal is detected', async () => {
  const { controller, query } = await site()
  const a = await controller('a')
  a.log.append(joined('ann'))
  await a.log.flush()
  const { items } = await a.log.query({ limit: 1 })
  const last = items[0]?.seq ?? 0
  await query(`insert into roomdesk_event select seq + 1, line from roomdesk_event where seq = ${last}`)
  expect(await a.log.verify()).toMatchObject({ ok: false })
})

test('Consoles at the leader receive entries of all controllers as they arrive', async () => {
  const { controller } = await site()
  const a = await controller('a')
  const b = await controller('b')
  await a.log.flush()
  await b.log.flush()
  const seen: EventEntry[] = []
  a.log.onAdded((entries) => seen.push(...entries))
  a.log.append(joined('ann'))
  await a.log.flush()
  b.log.append(joined('bo'))
  await vi.waitFor(
    () => expect(seen.map(({ subject }) => subject.id)).toEqual(expect.arrayContaining(['ann', 'bo'])),
    5_000,
  )
  const numbers = seen.map(({ seq }) => seq)
  expect(numbers).toEqual([...new Set(numbers)].sort((one, other) => one - other))
})

test('A search over 20,000 entries returns its matches page by page, and ends', async () => {
  const { controller } = await site()
  const a = await controller('a')
  for (let at = 0; at < 20_000; at += 5_000) {
    for (const id of range(at, at + 5_000)) a.log.append(joined(id, id.endsWith('77') ? 'yard' : 'lobby'))
    await a.log.flush()
  }
  const found: string[] = []
  for (let before = 0; ; ) {
    const page = await a.log.query({
      subject: { type: 'room', id: 'yard' },
      limit: 50,
      ...(before === 0 ? {} : { before }),
    })
    found.push(...page.items.map(({ subject }) => subject.id))
    before = page.next
    if (before === 0) break
  }
  expect(found).toEqual(
    range(0, 20_000)
      .filter((id) => id.endsWith('77'))
      .reverse(),
  )
})

test('An event that two controllers log for one change appears once in the log of the site', async () => {
  const { controller } = await site()
  const a = await controller('a')
  const b = await controller('b')
  // It logs the event, and is cut off before the log of the site has it.
  a.proxy.closed = true
  a.proxy.cut()
  a.log.append({ ...joined('ann'), change: 'one' })
  expect(await a.log.sync()).toBeUndefined()
  b.log.append({ ...joined('ann'), change: 'one' })
  b.log.append({ ...joined('bo'), change: 'two' })
  expect(await b.log.sync()).toBeDefined()
  a.proxy.closed = false
  a.log.append(joined('cy'))
  await expect.poll(() => a.log.sync(), { timeout: 10_000 }).toBeDefined()
  expect(await people(b.log)).toEqual(['ann at b', 'bo at b', 'cy at a'])
  expect(await b.log.verify()).toMatchObject({ ok: true })
})
