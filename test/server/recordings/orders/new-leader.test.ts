import { expect, onTestFinished, test, vi } from 'vitest'
import { cameraOrder, ordersOf } from '../../../support/recordings/orders-site.ts'
import { open, temporaryFolder } from '../../../support/sites/store-site.ts'

test('A recording that ends with its leader gets its file once the next leader knows the recorded spans', async () => {
  const store = await open(await temporaryFolder())
  onTestFinished(() => store.close())
  const recovered = Promise.withResolvers<void>()
  const wait = vi.fn(() => recovered.promise)
  const { recordings, made } = await ordersOf(store, { recovered: wait })
  const first = await recordings.begin(cameraOrder)
  const second = await recordings.begin(cameraOrder)
  const ended = [first, second].map(({ id }) => recordings.end(id))
  await vi.waitFor(() => expect(wait).toHaveBeenCalledTimes(2))
  expect([made, recordings.stored.list({}).map(({ state }) => state)]).toEqual([[], ['finishing', 'finishing']])
  recovered.resolve()
  await Promise.all(ended)
  expect(recordings.stored.list({}).map(({ state }) => state)).toEqual(['available', 'available'])
})
