import { expect, test } from 'vitest'
import { Removals } from '../../../server/rooms/removals.ts'
import type { Store } from '../../../server/store/store.ts'
import type { Removal } from '../../../shared/media/control.ts'
import { defaultSettings } from '../../../shared/settings.ts'
import { temporaryStore } from '../../support/sites/store-site.ts'
import { storedRoom } from '../../support/stored-records.ts'

const settings = defaultSettings()
const logger = {
  error: (fields: object, message: string) => expect.unreachable(`${message} ${JSON.stringify(fields)}`),
}
const ann = { roomId: 'r1', userId: 'ann', proven: true }

async function storeWithRoom(): Promise<Store> {
  const { store } = await temporaryStore()
  await store.transact(['rooms/r1'], (transaction) => transaction.put('rooms', 'r1', storedRoom('r1')))
  return store
}

test('a removed user is refused in that room only, even after a restart', async () => {
  const store = await storeWithRoom()
  const removals = new Removals({ store, settings: () => settings, logger })
  expect(removals.refuses(ann)).toBe(false)
  await removals.remove(ann)
  for (const memory of [removals, new Removals({ store, settings: () => settings, logger })]) {
    expect(memory.refuses(ann)).toBe(true)
    expect(memory.refuses({ ...ann, proven: false })).toBe(true)
    expect(memory.refuses({ ...ann, roomId: 'r2' })).toBe(false)
    expect(memory.list()).toMatchObject([{ roomId: 'r1', userId: 'ann', tokenId: '' }])
  }
})

test('a removal under an unproven id does not affect its owner', async () => {
  const removals = new Removals({ store: await storeWithRoom(), settings: () => settings, logger })
  await removals.remove({ ...ann, proven: false })
  expect(removals.refuses({ ...ann, proven: false })).toBe(true)
  expect(removals.refuses(ann)).toBe(false)
  expect(removals.list()).toEqual([])
})

test('the actor of a removal is recorded, and a room restored from a backup restores its removals', async () => {
  const store = await storeWithRoom()
  const removals = new Removals({ store, settings: () => settings, logger })
  store.onChange((changes) => removals.follow(changes))
  const told: [Removal, object | undefined][] = []
  removals.onRemoval((removal, by) => void told.push([removal, by]))
  const node = {}
  const removal = { roomId: 'r1', userId: 'bob', tokenId: 'link', at: Date.now(), until: Date.now() + 60_000 }
  await removals.note(removal, node)
  const until = Date.now() + 60_000
  const restored = storedRoom('r1', { removals: [{ user_id: 'ann', token_id: '', at: Date.now(), until }] })
  await store.transact(['rooms/r1'], (transaction) => transaction.put('rooms', 'r1', restored))
  expect(told).toEqual([
    [removal, node],
    [expect.objectContaining({ userId: 'ann', until }), undefined],
  ])
  expect(removals.refuses(ann)).toBe(true)
})

test('a removal that the store refuses or does not answer is stored with the next change, and a later one of the same user is kept', async () => {
  const store = await storeWithRoom()
  const errors: string[] = []
  let outcome: 'refused' | 'unanswered' | 'stored' = 'refused'
  const removals = new Removals({
    store: {
      all: (collection) => store.all(collection),
      get: (collection, key) => store.get(collection, key),
      transact: async (locks, work) => {
        if (outcome === 'refused') throw new Error('the disk is full')
        const result = await store.transact(locks, work)
        if (outcome === 'unanswered') throw new Error('no answer')
        return result
      },
    },
    settings: () => settings,
    logger: { error: (_, message) => void errors.push(message) },
  })
  store.onChange((changes) => removals.follow(changes))
  const stored = () => store.get('rooms', 'r1')?.removals?.map(({ user_id, at }) => [user_id, at])
  const [at, until] = [Date.now(), Date.now() + 60_000]
  await removals.note({ roomId: 'r1', userId: 'ann', tokenId: '', at, until })
  expect(errors).toEqual(['a removal could not be stored: retrying'])
  expect(stored()).toBeUndefined()
  outcome = 'unanswered'
  await removals.note({ roomId: 'r1', userId: 'bob', tokenId: '', at, until })
  outcome = 'stored'
  await removals.note({ roomId: 'r1', userId: 'bob', tokenId: '', at: at + 1, until })
  await expect.poll(stored).toEqual(
    expect.arrayContaining([
      ['ann', at],
      ['bob', at + 1],
    ]),
  )
  expect(stored()).toHaveLength(2)
})
