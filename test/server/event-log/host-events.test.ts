import { expect, onTestFinished, test } from 'vitest'
import type { EventDraft } from '../../../server/event-log/event-log.ts'
import { HostSource } from '../../../server/event-log/sources/hosts.ts'
import { outcomeUnknown } from '../../../server/store/storage.ts'
import { collectingSink } from '../../support/collecting-sink.ts'
import { createRoom, temporaryStore } from '../../support/sites/store-site.ts'

test('A lock by a host whose answer is lost leaves its event with the change', async () => {
  const site = await temporaryStore()
  onTestFinished(() => site.remove())
  const { store } = site
  await createRoom(store, 'room')
  const after: EventDraft[] = []
  const hosts = new HostSource(store, collectingSink(after))
  const by = { userId: 'ann', userName: 'Ann' }
  const locked = hosts.locking({ roomId: 'room', locked: true, by }, async () => {
    const room = store.get('rooms', 'room')
    if (room === undefined) throw new Error('no room')
    await store.transact([], (transaction) => transaction.put('rooms', 'room', { ...room, locked: true }))
    throw outcomeUnknown('test')
  })
  await expect(locked).rejects.toThrow()
  expect([...store.all('pending_events').values()]).toMatchObject([
    { kind: 'room.locked', actor: { type: 'host', name: 'Ann' }, subject: { id: 'room' } },
  ])
  // A change of nothing is recorded after it.
  await hosts.locking({ roomId: 'room', locked: true, by }, () => Promise.resolve())
  expect(after).toMatchObject([{ kind: 'room.locked' }])
})
