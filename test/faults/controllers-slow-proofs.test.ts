import { expect, test, vi } from 'vitest'
import { electionTimes } from '../../server/store/election/timings.ts'
import { type TestSite, siteOfControllers } from '../support/sites/member-site.ts'
import { postgresOfFile } from '../server/store/drivers.ts'

const postgres = postgresOfFile()
const slow = { times: electionTimes, databaseDeadlines: { connect: 3_000, answer: 4_000 } }

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** How long the last proof counts, as the leader has stored it. */
async function announced({ server, schema }: TestSite): Promise<number> {
  const rows = await server.query<{ reads_ms: number }>(`select reads_ms from ${schema}.roomdesk_leader`)
  return rows[0]?.reads_ms ?? 0
}

test('With 250 ms per statement reads need not wait for a proof, and the next leader waits until the last proof has expired', async () => {
  const site = await siteOfControllers(await postgres())
  const first = await site.controller('first', slow)
  await first.lead()
  const second = await site.controller('second', slow)
  const next = second.lead()
  await vi.waitFor(async () => expect(await first.member.controllers()).toHaveLength(2))
  first.proxy.delayMs = 250
  await vi.waitFor(async () => expect(await announced(site)).toBeGreaterThan(1_000), { timeout: 8_000 })
  await wait(1_000)
  const before = first.member.lease()?.lapses
  await wait(4_000)
  expect(first.member.lease()?.lapses).toBe(before)
  const reads = await announced(site)
  // Its connection ends, which it does not notice: it may answer from memory.
  first.proxy.freeze(true)
  const [{ pid } = { pid: 0 }] = await site.server.query<{ pid: number }>(
    `select l.pid from pg_locks l where l.locktype = 'advisory' and l.granted
       and l.objid = (hashtext('${site.schema}')::bigint & 4294967295)::oid`,
  )
  const endedAt = performance.now()
  await site.server.query(`select pg_terminate_backend(${pid})`)
  await next
  expect(performance.now() - endedAt).toBeGreaterThan(reads)
  expect(performance.now() - endedAt).toBeLessThan(reads + electionTimes.comeBack)
}, 40_000)

test('Beside a controller of an earlier version, which waits only for the shortest proof, a proof lasts no longer than that', async () => {
  const site = await siteOfControllers(await postgres())
  const first = await site.controller('first', slow)
  await first.lead()
  first.proxy.delayMs = 250
  await vi.waitFor(async () => expect(await announced(site)).toBeGreaterThan(1_000), { timeout: 8_000 })
  await site.server.query(
    `insert into ${site.schema}.roomdesk_controller (id, name, version, place, applied, behind, behind_ms, seen_at, since)
     select gen_random_uuid(), 'earlier', '1.0.0', place, applied, 0, 0, clock_timestamp(), clock_timestamp()
     from ${site.schema}.roomdesk_controller limit 1`,
  )
  await vi.waitFor(async () => expect(await announced(site)).toBe(electionTimes.reads), { timeout: 8_000 })
}, 40_000)

test('A new leader on a database with 600 ms per statement answers with its first proof', async () => {
  const site = await siteOfControllers(await postgres())
  const first = await site.controller('first', slow)
  await first.lead()
  const second = await site.controller('second', slow)
  await vi.waitFor(async () => expect(await first.member.controllers()).toHaveLength(2))
  second.proxy.delayMs = 600
  const next = second.lead()
  await first.close()
  const store = await next
  const ledAt = performance.now()
  await store.confirmed()
  // Two statements; the others are known after four more.
  expect(performance.now() - ledAt).toBeLessThan(2_000)
}, 40_000)
