import { expect, onTestFinished, test } from 'vitest'
import { limits } from '../../../shared/limits.ts'
import type { Store } from '../../../server/store/store.ts'
import { open, room, temporaryFolder } from '../../support/sites/store-site.ts'

function put(store: Store, id: string, tags: readonly string[]): Promise<void> {
  return store.transact([`rooms/${id}`], (transaction) => transaction.put('rooms', id, { ...room(id, 1), tags }))
}

const named = (from: number, count: number): string[] => Array.from({ length: count }, (_, n) => `tag ${from + n}`)

test('Concurrent changes do not exceed the limit of different tags, and a removed tag makes room', async () => {
  const store = await open(await temporaryFolder())
  onTestFinished(() => store.close())
  await put(store, 'first', named(0, limits.tags - 2))
  const tooMany = { refusal: { name: 'tagLimit' } }
  const outcomes = await Promise.allSettled(named(5_000, 10).map((tag, n) => put(store, `room ${n}`, [tag])))
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
  for (const outcome of outcomes) if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject(tooMany)
  // Known tags, in any spelling, need no room; two changes that bring the same tag bring one.
  await put(store, 'known', ['TAG 1', 'tag 2'])
  await put(store, 'first', named(0, limits.tags - 3))
  await Promise.all([put(store, 'one', ['new']), put(store, 'two', ['new'])])
  await expect(put(store, 'three', ['newer'])).rejects.toMatchObject(tooMany)
})
