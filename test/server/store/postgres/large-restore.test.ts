import { expect, test, vi } from 'vitest'
import type { Store } from '../../../../server/store/store.ts'
import { siteOfControllers } from '../../../support/sites/member-site.ts'
import { createRoom, open, room, temporaryFolder } from '../../../support/sites/store-site.ts'
import { databaseSite, postgresOfFile } from '../drivers.ts'

const postgres = postgresOfFile()
const rooms = 30_000

/** Stores so many rooms, and makes a backup of them. */
async function fill(store: Store, topic: string): Promise<string> {
  for (let from = 0; from < rooms; from += 1_000) {
    await store.transact([], (transaction) => {
      for (let at = from; at < from + 1_000; at++)
        transaction.put('rooms', `room-${at}`, room(`room-${at}`, at + 1, `${topic} ${at} ${'x'.repeat(200)}`))
    })
  }
  return (await store.makeBackup(true)).name
}

test('A restore of a large site is stored in parts that count together, and every other change goes on after it', async () => {
  const server = await postgres()
  const { database, folder, schema } = await databaseSite(server)
  const store = await open(folder, { database })
  const first = await fill(store, 'First')
  await fill(store, 'Second')
  await store.restoreBackup(first)
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
  expect(again.all('rooms').size).toBe(rooms + 1)
  expect(again.get('rooms', 'room-7')?.topic).toMatch(/^First 7 /)
  await again.close()
})

test.each([
  ['before a part was answered', 'select -($1::bigint'],
  ['before the last answer', 'update roomdesk_journal set seq'],
])(
  'The connection breaks during a large restore, %s: all of it is there, or nothing, and it is what was answered',
  async (_, statement) => {
    const site = await siteOfControllers(await postgres())
    const first = await site.controller('first')
    const store = await first.lead()
    const backup = await fill(store, 'First')
    await fill(store, 'Second')
    const second = await site.controller('second')
    const dropped = first.proxy.dropNextAnswer(statement)
    const restored = store.restoreBackup(backup).then(
      () => 'First',
      () => 'Second',
    )
    await dropped
    const topic = await restored
    expect(store.get('rooms', 'room-5')?.topic.split(' ')[0]).toBe(topic)
    await createRoom(store, 'later')
    await vi.waitFor(() => expect(second.member.followed.get('rooms', 'later')).toBeDefined(), 10_000)
    for (const id of ['room-0', 'room-15000', 'room-29999'])
      expect(second.member.followed.get('rooms', id)?.topic.split(' ')[0]).toBe(topic)
  },
)

test('The leader is lost in the middle of a large restore: whoever takes over has nothing of it, and another restore succeeds there', async () => {
  const site = await siteOfControllers(await postgres())
  const first = await site.controller('first')
  const store = await first.lead()
  const backup = await fill(store, 'First')
  await fill(store, 'Second')
  const second = await site.controller('second')
  const held = first.proxy.holdStatement('update roomdesk_journal set seq')
  const restored = store.restoreBackup(backup).catch(() => 'refused')
  await held
  first.proxy.closed = true
  first.proxy.cut()
  const next = await second.lead()
  expect(next.get('rooms', 'room-5')?.topic).toMatch(/^Second 5 /)
  await createRoom(next, 'later')
  const other = (await next.backups()).find(({ name }) => name === backup)?.name ?? ''
  await next.restoreBackup(other)
  expect(next.get('rooms', 'room-5')?.topic).toMatch(/^First 5 /)
  first.proxy.closed = false
  expect(await restored).toBe('refused')
})
