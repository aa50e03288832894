import { Client } from 'pg'
import { expect, test, vi } from 'vitest'
import type { OthersAnswers } from '../../../../server/store/election/membership.ts'
import type { FencedStore } from '../../../../server/store/election/site-member.ts'
import type { ElectionTimes } from '../../../../server/store/election/timings.ts'
import { postgresOfFile } from '../drivers.ts'
import { createRoom, topics } from '../../../support/sites/store-site.ts'
import { siteOfControllers, type TestController, type TestSite, times } from '../../../support/sites/member-site.ts'

const postgres = postgresOfFile()
const newSite = async (): Promise<TestSite> => await siteOfControllers(await postgres())

const rooms = (controller: TestController): string[] => [...controller.member.followed.all('rooms').keys()]

/** A leader and a replica. */
async function twoControllers(
  site: TestSite,
  longer: Partial<ElectionTimes> = {},
): Promise<{ first: TestController; led: FencedStore; second: TestController }> {
  const first = await site.controller('first', { times: { ...times, ...longer } })
  const led = await first.lead()
  return { first, led, second: await site.controller('second') }
}

/** A leader that renews its lease reads the other controllers. */
async function renewed({ member }: TestController): Promise<void> {
  const itself = async (): Promise<number> => (await member.controllers())[0]?.seenAt ?? 0
  for (let i = 0; i < 2; i++) {
    const since = await itself()
    await vi.waitFor(async () => expect(await itself()).toBeGreaterThan(since + 50))
  }
}

/** Message of the other controllers. @param leader leader that they report */
const said = (leader?: { id: string; epoch: string }): OthersAnswers =>
  leader === undefined ? { reachDatabase: true, unproven: false } : { leader, reachDatabase: true, unproven: false }

test('Two controllers start at once on an empty database: one leads, the other follows, and leads when the first ends', async () => {
  const site = await newSite()
  const both = await Promise.all([site.controller('left'), site.controller('right')])
  const leading = both.map((controller) => controller.lead())
  const led = await Promise.race(leading)
  const [leader, standby] = both[0].led === led ? both : [both[1], both[0]]
  await createRoom(led, '1')
  await vi.waitFor(() => expect(rooms(standby)).toEqual(['1']))
  expect(standby.led).toBeUndefined()
  leader.member.announce({ media: '', device: '', node: '', console: 'http://a', event: '', certificate: '' })
  await vi.waitFor(() =>
    expect(standby.member.leader()).toMatchObject({
      name: leader.name,
      role: 'leader',
      place: { console: 'http://a' },
    }),
  )
  await leader.close()
  const second = (await Promise.all(leading)).find((store) => store !== led) ?? led
  await createRoom(second, '2')
  expect(topics(second)).toEqual({ 1: 'A topic', 2: 'A topic' })
})

test('The connection of the leader is cut for good: another leads at once with all stored changes, and late changes are refused', async () => {
  const site = await newSite()
  const { first, led, second } = await twoControllers(site, { lease: 15_000 })
  for (let i = 0; i < 20; i++) await createRoom(led, `room-${i}`)
  const next = second.lead()
  first.proxy.closed = true
  const began = performance.now()
  first.proxy.cut()
  const store = await next
  // Before the end of its lease.
  expect(performance.now() - began).toBeLessThan(10_000)
  expect(Object.keys(topics(store))).toHaveLength(20)
  expect(BigInt(store.epoch)).toBeGreaterThan(BigInt(led.epoch))
  await createRoom(store, 'of the second')
  // The first one reaches the database again, and finds that it was fenced meanwhile.
  const late = createRoom(led, 'late')
  first.proxy.closed = false
  await expect(late).rejects.toMatchObject({ code: 'storage', reason: expect.stringContaining('second') as string })
  await expect(led.fenced).resolves.toMatchObject({ message: expect.stringContaining('second') as string })
  await expect(led.confirmed()).rejects.toThrow('another controller leads')
  await led.close()
  expect(Object.keys(topics(store))).not.toContain('late')
  expect(store.nextRoomNumber()).toBeGreaterThan(21)
})

test('The leader’s connection to the database freezes: its lease ends, another leads, and pending changes of the first are not reported as stored', async () => {
  const site = await newSite()
  const others: string[] = []
  const leaders: { id: string; epoch: string }[] = []
  const first = await site.controller('first', {
    askOthers: async (known) => {
      others.push(...known.map(({ name }) => name))
      return await Promise.resolve(said(leaders[0]))
    },
  })
  const led = await first.lead()
  const second = await site.controller('second')
  await createRoom(led, 'before')
  expect(led.confirmed()).toBeUndefined()
  await vi.waitFor(() => expect(rooms(second)).toEqual(['before']))
  await renewed(first)
  const next = second.lead()
  first.proxy.freeze(true)
  const began = performance.now()
  const underWay = createRoom(led, 'under way')
  const failed = expect(underWay).rejects.toMatchObject({ code: 'storage' })
  const store = await next
  expect(performance.now() - began).toBeGreaterThan(times.lease - times.renew - 50)
  // The same number in the journal.
  await createRoom(store, 'of the second')
  leaders.push({ id: second.member.id, epoch: store.epoch })
  await expect(led.confirmed()).rejects.toThrow('another controller leads')
  expect(new Set(others)).toEqual(new Set(['second']))
  await expect(led.fenced).resolves.toBeInstanceOf(Error)
  first.proxy.freeze(false)
  await failed
  await led.close()
  expect(Object.keys(topics(store))).toEqual(['before', 'of the second'])
  expect(await site.server.query(`select seq from ${site.schema}.roomdesk_journal`)).toHaveLength(2)
})

test('A leader cut off from the database is told of the next one by the others: pending changes end before their deadline', async () => {
  const site = await newSite()
  const leaders: { id: string; epoch: string }[] = []
  const first = await site.controller('first', {
    deadlineMs: () => 60_000,
    askOthers: () => Promise.resolve(said(leaders[0])),
  })
  const led = await first.lead()
  const second = await site.controller('second')
  await createRoom(led, 'before')
  await renewed(first)
  const next = second.lead()
  first.proxy.closed = true
  first.proxy.cut()
  const change = createRoom(led, 'of the first')
  const failed = expect(change).rejects.toMatchObject({ code: 'storage' })
  const store = await next
  leaders.push({ id: second.member.id, epoch: store.epoch })
  await led.fenced
  await failed
  expect(first.member.leader()).toMatchObject({ name: 'second', role: 'leader' })
  await led.close()
  await first.member.close()
  // Its state stays valid until it reaches the database again.
  const again = await site.controller('first, again', {
    database: site.server.address(site.schema, first.proxy.host),
    whenAway: 'wait',
    before: first.member,
  })
  expect(rooms(again)).toEqual(['before'])
  expect(again.member.leader()).toMatchObject({ name: 'second' })
  await createRoom(store, 'of the second')
  first.proxy.closed = false
  await vi.waitFor(() => expect(rooms(again)).toEqual(['before', 'of the second']), { timeout: 3_000 })
})

test('A leader that freezes at the very end of a snapshot does not prevent another from leading', async () => {
  const site = await newSite()
  const { first, second } = await twoControllers(site)
  // Holds the connection that writes a snapshot, between its last statement and the commit.
  const writer = new Client({ connectionString: site.server.address(site.schema) })
  await writer.connect()
  writer.on('error', () => undefined)
  const ended = new Promise((resolve) => writer.once('end', resolve))
  await writer.query('begin; select 1 from roomdesk_leader for share')
  first.proxy.freeze(true)
  await createRoom(await second.lead(), 'of the second')
  await ended
})

test('The leader’s connection breaks, and two foreign connections want its lock: the leader stores again only when it holds the lock itself', async () => {
  const site = await newSite()
  const first = await site.controller('first')
  const led = await first.lead()
  await createRoom(led, 'before')
  const lock = `pg_advisory_lock(5391436, hashtext('${site.schema}'))`
  const foreign = await Promise.all(
    [1, 2].map(async () => {
      const client = new Client({ connectionString: site.server.address(site.schema) })
      client.on('error', () => undefined)
      await client.connect()
      // Each waits its turn; who gets the lock keeps it.
      client.query(`select ${lock}`).catch(() => undefined)
      return client
    }),
  )
  first.proxy.cut()
  await createRoom(led, 'after')
  const asked = new Client({ connectionString: site.server.address(site.schema) })
  await asked.connect()
  const { rows } = await asked.query<{ free: boolean }>(
    `select pg_try_advisory_lock(5391436, hashtext('${site.schema}')) as free`,
  )
  expect(rows[0]?.free).toBe(false)
  const { rows: holders } = await asked.query<{ foreign: boolean }>(
    `select a.query like 'select pg_advisory_lock%' as foreign from pg_locks l join pg_stat_activity a using (pid)
     where l.locktype = 'advisory' and l.classid = 5391436 and l.granted
       and l.objid = (hashtext('${site.schema}')::bigint & 4294967295)::oid`,
  )
  expect(holders).toEqual([{ foreign: false }])
  await Promise.all([...foreign, asked].map((client) => client.end().catch(() => undefined)))
})

test('A change whose answer is lost with the leadership is reported stored if it was', async () => {
  const { first, led, second } = await twoControllers(await newSite())
  await createRoom(led, 'before')
  const next = second.lead()
  // The answer to the change, and not the one to a proof of the lease.
  const dropped = first.proxy.dropNextAnswer('append')
  const change = createRoom(led, 'unknown')
  await dropped
  first.proxy.closed = true
  const store = await next
  first.proxy.closed = false
  await change
  await led.fenced
  expect(Object.keys(topics(store))).toEqual(['before', 'unknown'])
})

test('The database is unreachable for all: without another leader reads continue; once it returns, the leader keeps its role, and the replica follows', async () => {
  const site = await newSite()
  let asked = 0
  const first = await site.controller('first', {
    askOthers: () => {
      asked++
      return Promise.resolve({ reachDatabase: false, unproven: false })
    },
  })
  const led = await first.lead()
  const second = await site.controller('second')
  let took = false
  void second.lead().then(
    () => (took = true),
    () => undefined,
  )
  await createRoom(led, 'before')
  await vi.waitFor(() => expect(rooms(second)).toEqual(['before']))
  for (const { proxy } of [first, second]) {
    proxy.closed = true
    proxy.cut()
  }
  await vi.waitFor(() => expect(first.member.database().awaySince).toBeGreaterThan(0))
  await vi.waitFor(() => expect(second.member.database().awaySince).toBeGreaterThan(0))
  expect(second.member.database().error).not.toContain('a-password')
  expect(second.member.leader()?.name ?? 'first').toBe('first')
  await led.confirmed()
  expect(asked).toBeGreaterThan(0)
  // Not again for a second.
  expect(led.confirmed()).toBeUndefined()
  for (const { proxy } of [second, first]) proxy.closed = false
  await createRoom(led, 'after')
  await vi.waitFor(() => expect(rooms(second)).toEqual(['before', 'after']))
  expect(took).toBe(false)
  expect(second.member.database()).toMatchObject({ awaySince: 0, error: '' })
})

test.each([
  ['is silent', false],
  ['at whose address another program answers', true],
])(
  'While the database is away, a controller that was switched off long ago and %s stops reads, because it may have come back and lead; they go on with the database',
  async (_, unproven) => {
    const site = await newSite()
    const silent: string[][] = []
    const first = await site.controller('first', {
      deadlineMs: () => 1_500,
      askOthers: async (known, signal) => {
        if (known.length > 0) {
          silent.push(known.map(({ name }) => name))
          if (!unproven) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
        }
        return { reachDatabase: false, unproven: unproven && known.length > 0 }
      },
    })
    const led = await first.lead()
    const second = await site.controller('second')
    await vi.waitFor(async () => expect(await first.member.controllers()).toHaveLength(2))
    await second.close()
    await vi.waitFor(async () => {
      const [one, other] = await first.member.controllers()
      expect(one?.seenAt ?? 0).toBeGreaterThan((other?.seenAt ?? 0) + times.lease)
    })
    await renewed(first)
    first.proxy.closed = true
    first.proxy.cut()
    await vi.waitFor(() => expect(first.member.database().awaySince).toBeGreaterThan(0))
    let confirmed = false
    const waits = led.confirmed()?.then(() => (confirmed = true))
    waits?.catch(() => undefined)
    await vi.waitFor(() => expect(silent.filter(([name]) => name === 'second').length).toBeGreaterThan(1), 5_000)
    expect(confirmed).toBe(false)
    await expect(waits).rejects.toMatchObject({ code: 'storage' })
    first.proxy.closed = false
    await led.confirmed()
  },
)

test('A replica that reported the database unreachable lets the leader reconnect first', async () => {
  const site = await newSite()
  const { first, led, second } = await twoControllers(site)
  const slow = await site.controller('slow', {
    databaseDeadlines: { connect: 500, answer: 60_000 },
    times: { ...times, comeBack: 60_000 },
  })
  await second.close()
  let took = false
  void slow.lead().then(
    () => (took = true),
    () => undefined,
  )
  await createRoom(led, 'before')
  await vi.waitFor(() => expect(rooms(slow)).toEqual(['before']))
  slow.proxy.freeze(true)
  await vi.waitFor(() => expect(slow.member.answerLeader().awaySince).toBeGreaterThan(0), 5_000)
  slow.proxy.freeze(false)
  await vi.waitFor(() => expect(slow.member.database().awaySince).toBe(0))
  first.proxy.closed = true
  first.proxy.cut()
  await vi.waitFor(() => expect(first.member.database().awaySince).toBeGreaterThan(0))
  // Its lock is free for every controller that tries.
  const lock = `select 1 from pg_locks where locktype = 'advisory' and granted and classid = 5391436`
  await vi.waitFor(async () => expect(await site.server.query(lock)).toEqual([]))
  first.proxy.closed = false
  await createRoom(led, 'after')
  await vi.waitFor(() => expect(rooms(slow)).toEqual(['before', 'after']))
  expect(took).toBe(false)
})

test('Clients that read the state of a replica while the database is slow do not delay its takeover', async () => {
  const site = await newSite()
  const { first, led, second } = await twoControllers(site)
  await second.close()
  const slow = await site.controller('slow', {
    databaseDeadlines: { connect: 500, answer: 60_000 },
    times: { ...times, comeBack: 60_000 },
  })
  await createRoom(led, 'before')
  await vi.waitFor(() => expect(rooms(slow)).toEqual(['before']))
  slow.proxy.freeze(true)
  await vi.waitFor(() => expect(slow.member.database().awaySince).toBeGreaterThan(0), 5_000)
  slow.proxy.freeze(false)
  await first.close()
  const began = performance.now()
  await slow.lead()
  expect(performance.now() - began).toBeLessThan(10_000)
})

test('The site is handed over by hand: no change is lost, the named controller leads at once, and others wait for it', async () => {
  const site = await newSite()
  const { first, led, second } = await twoControllers(site, { successor: 15_000 })
  const third = await site.controller('third')
  let thirdLeads = false
  void third.lead().then(
    () => (thirdLeads = true),
    () => undefined,
  )
  const next = second.lead()
  await expect(first.member.handOver('00000000-0000-0000-0000-000000000000')).rejects.toMatchObject({
    code: 'parameter',
  })
  await expect(first.member.handOver(first.member.id)).rejects.toMatchObject({ code: 'parameter' })
  const told: string[] = []
  const changes = Array.from({ length: 40 }, (_, i) => createRoom(led, `room-${i}`).then(() => told.push(`room-${i}`)))
  led.writeBehind('sessions', 'token', { access_key: 'a', form: 'sha1-hex', created_at: 1, used_at: 2 })
  await vi.waitFor(async () => expect(await first.member.controllers()).toHaveLength(3))
  const began = performance.now()
  await first.member.handOver(second.member.id)
  const store = await next
  expect(performance.now() - began).toBeLessThan(10_000)
  await expect(led.fenced).resolves.toMatchObject({ message: expect.stringContaining('second') as string })
  await Promise.allSettled(changes)
  expect(told.length).toBeGreaterThan(0)
  expect(Object.keys(topics(store))).toEqual(expect.arrayContaining(told))
  expect(store.all('sessions').size).toBe(1)
  await expect(createRoom(led, 'late')).rejects.toMatchObject({ code: 'storage' })
  await led.close()
  // The database is fine.
  expect(led.status().notices).toEqual([])
  expect(thirdLeads).toBe(false)
})

test('The site is handed over by hand while each statement is slow: the named controller leads, and no other', async () => {
  const site = await newSite()
  const { first, led, second } = await twoControllers(site)
  const third = await site.controller('third')
  await createRoom(led, 'before')
  let thirdLeads = false
  void third.lead().then(
    () => (thirdLeads = true),
    () => undefined,
  )
  const next = second.lead()
  await vi.waitFor(async () => expect(await first.member.controllers()).toHaveLength(3))
  // The third one is near the database.
  for (const { proxy } of [first, second]) proxy.delayMs = 105
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  await first.member.handOver(second.member.id)
  await createRoom(await next, 'after')
  expect(thirdLeads).toBe(false)
}, 20_000)

test('The named controller does not take the lead: after a moment any other may', async () => {
  const site = await newSite()
  const { first, second } = await twoControllers(site)
  const third = await site.controller('third')
  await vi.waitFor(async () => expect(await first.member.controllers()).toHaveLength(3))
  const next = third.lead()
  const began = performance.now()
  await first.member.handOver(second.member.id)
  await createRoom(await next, 'of the third')
  expect(performance.now() - began).toBeGreaterThan(times.successor - 50)
})
