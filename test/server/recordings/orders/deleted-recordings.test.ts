import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { cameraOrder, ordersOf } from '../../../support/recordings/orders-site.ts'
import { open, temporaryFolder } from '../../../support/sites/store-site.ts'

const filesIn = async (folder: string): Promise<string[]> => await readdir(join(folder, '~files'))

async function newStore() {
  const store = await open(await temporaryFolder())
  onTestFinished(() => store.close())
  return store
}

test('A recording deleted while its file is being made leaves no file', async () => {
  const writing = Promise.withResolvers<void>()
  const store = await newStore()
  const { recordings, made, folder } = await ordersOf(store, { written: () => writing.promise })
  const { id } = await recordings.begin(cameraOrder)
  const ended = recordings.end(id).catch(() => undefined)
  await vi.waitFor(() => expect(made).toHaveLength(1))
  await recordings.stored.delete(id)
  writing.resolve()
  await ended
  await vi.waitFor(async () => expect(await filesIn(folder)).toEqual([]))
})

test('The file of a recording deleted under another leader is deleted when this controller leads again', async () => {
  const store = await newStore()
  const [here, there] = [await temporaryFolder(), await temporaryFolder()]
  const first = await ordersOf(store, { folder: here })
  const { id } = await first.recordings.begin(cameraOrder)
  await first.recordings.end(id)
  await vi.waitFor(() => expect(first.recordings.stored.get(id)).toMatchObject({ state: 'available' }))
  await first.recordings.close()
  const second = await ordersOf(store, { folder: there })
  await second.recordings.stored.delete(id)
  await second.recordings.close()
  // Left over from its making, as a crash leaves it, and of a recording that a restored backup does not hold.
  await writeFile(join(here, '~files', `${id}-1-part0.mp4`), 'half')
  await writeFile(join(here, '~files', '77-0.mp4'), 'film')
  await ordersOf(store, { folder: here })
  await vi.waitFor(async () => expect(await filesIn(here)).toEqual(['77-0.mp4']))
})
