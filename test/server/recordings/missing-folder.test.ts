import { join } from 'node:path'
import { expect, test } from 'vitest'
import { controllerSite } from '../../support/sites/controller-site.ts'
import { temporaryFolder } from '../../support/sites/store-site.ts'

test('A controller whose recordings folder is missing starts, says so, and does everything else', async () => {
  const recordingsDir = join(await temporaryFolder(), 'unmounted')
  const site = await controllerSite({ nodes: [] }, { recordingsDir })
  const key = await site.key()
  expect(await site.call(key, 'recordings.status', {})).toMatchObject({ usable: false })
  const { room_id } = await site.call(key, 'rooms.create', { topic: 'Yard' })
  const ordered = await site.result(key, 'orders.record', { room_id, user_id: 'gate' })
  expect(ordered.ok).toBe(false)
})
