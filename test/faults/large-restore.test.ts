import { expect, test, vi } from 'vitest'
import { postgresOfFile } from '../server/store/drivers.ts'
import { fillLargeSite } from '../support/sites/large-site.ts'
import { siteOfControllers } from '../support/sites/member-site.ts'
import { createRoom } from '../support/sites/store-site.ts'

const postgres = postgresOfFile()

test.each([
  ['before a part was answered', 'select -($1::bigint'],
  ['before the last answer', 'update roomdesk_journal set seq'],
])(
  'The connection breaks during a large restore, %s: all of it is there, or nothing, and it is what was answered',
  async (_, statement) => {
    const site = await siteOfControllers(await postgres())
    const first = await site.controller('first')
    const store = await first.lead()
    const backup = await fillLargeSite(store, 'First')
    await fillLargeSite(store, 'Second')
    const second = await site.controller('second')
    const dropped = first.proxy.dropNextAnswer(statement)
    const restored = store.restore.run(backup).then(
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

test('The leader is lost in the middle of a large restore: the next leader contains none of it, and another restore succeeds there', async () => {
  const site = await siteOfControllers(await postgres())
  const first = await site.controller('first')
  const store = await first.lead()
  const backup = await fillLargeSite(store, 'First')
  await fillLargeSite(store, 'Second')
  const second = await site.controller('second')
  const held = first.proxy.holdStatement('update roomdesk_journal set seq')
  const restored = store.restore.run(backup).catch(() => 'refused')
  await held
  first.proxy.closed = true
  first.proxy.cut()
  const next = await second.lead()
  expect(next.get('rooms', 'room-5')?.topic).toMatch(/^Second 5 /)
  await createRoom(next, 'later')
  const other = (await next.backups.list()).find(({ name }) => name === backup)?.name ?? ''
  await next.restore.run(other)
  expect(next.get('rooms', 'room-5')?.topic).toMatch(/^First 5 /)
  first.proxy.closed = false
  expect(await restored).toBe('refused')
})
