import { expect, test } from 'vitest'
import { outcomeUnknown } from '../../../server/store/storage.ts'
import { camera, liveSite, userIds } from '../../support/sites/live-site.ts'

test.each([true, false])(
  'A camera whose creation has an unknown outcome stays in its room exactly if it was stored (%s)',
  async (isStored) => {
    const site = await liveSite()
    const { client, store, stuckDisk } = site
    const roomId = await client.createRoom()
    const transact = store.transact.bind(store)
    const answered = Promise.withResolvers<void>()
    store.transact = async (locks, plan) => {
      if (!locks.includes('devices/cam-1')) return await transact(locks, plan)
      store.transact = transact
      // The storage does not answer: the change keeps its locks.
      stuckDisk.begin(10)
      void transact(locks, (transaction) => {
        if (isStored) plan(transaction)
        else transaction.put('last_uses', 'other', { at: 1 })
      }).finally(() => answered.resolve())
      throw outcomeUnknown('test')
    }
    const created = client.outgoing('createOutgoingUser', camera(roomId, 'cam-1'))
    expect(await created).toMatchObject({ ret: 302 })
    expect(await userIds(client, roomId)).toEqual(['cam-1'])
    stuckDisk.end()
    await answered.promise
    if (isStored) {
      await site.until(() => site.outgoing.view('cam-1')?.state === 'joined')
      expect(await userIds(client, roomId)).toEqual(['cam-1'])
    } else await expect.poll(async () => await userIds(client, roomId)).toEqual([])
  },
)
