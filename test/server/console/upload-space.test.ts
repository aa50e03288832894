import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { UploadSpace } from '../../../server/console/site-procedures.ts'

const megabyte = 1_000_000

async function uploadSpace(free: number, reserve: number): Promise<UploadSpace> {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-upload-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return new UploadSpace({
    folder,
    recordings: () => ({ folder, reserve }),
    measure: () => Promise.resolve({ free, capacity: 2 * free }),
  })
}

test('An uploaded backup leaves the reserve of the recordings and 200 MB for the store, also when it is unpacked', async () => {
  const space = await uploadSpace(1_000 * megabyte, 600 * megabyte)
  await space.take('root', 0, 90 * megabyte)
  await expect(space.take('root', 90 * megabyte, 60 * megabyte)).rejects.toMatchObject({
    refusal: { name: 'uploadNoSpace' },
  })
})

test('One upload counts once, however many parts it has, and the next one starts from zero', async () => {
  const space = await uploadSpace(1_000 * megabyte, 0)
  for (let part = 0; part < 300; part++) await space.take('root', part * megabyte, megabyte)
  space.end()
  await space.take('ann', 0, 300 * megabyte)
})

test('Where only the recordings reserve is free, no upload begins', async () => {
  const space = await uploadSpace(500 * megabyte, 400 * megabyte)
  await expect(space.take('root', 0, 1)).rejects.toMatchObject({ refusal: { name: 'uploadNoSpace' } })
})
