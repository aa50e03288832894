import { expect, test } from 'vitest'
import { controllerSite } from '../../support/sites/controller-site.ts'

test('A join link leads into its room, also back from the trash, but into no later room of the same number', async () => {
  const site = await controllerSite({ nodes: [{ name: 'janus', kind: 'janus', ws_url: 'ws://127.0.0.1:9' }] })
  const key = await site.key()
  const room = { topic: 'Interview', owner_id: 'olga', room_mode: 1, room_extend_id: 'interview' } as const
  const links = async (): Promise<number> => (await site.call(key, 'capabilities.list', { room_id: 'interview' })).total
  await site.call(key, 'rooms.create', room)
  await site.call(key, 'media.join_link', { room_id: 'interview', role: 'host' })

  const { undo } = await site.call(key, 'rooms.delete', { room_ids: ['interview'] })
  expect(await links()).toBe(0)
  await site.call(key, 'rooms.restore', { undo })
  expect(await links()).toBe(1)

  await site.call(key, 'rooms.delete', { room_ids: ['interview'] })
  await site.call(key, 'rooms.create', room)
  expect(await links()).toBe(0)
})
