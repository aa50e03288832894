import { expect, test } from 'vitest'
import { controllerSite } from '../../support/sites/controller-site.ts'

const nodes = [{ name: 'Hall', kind: 'simulated' }]

test('A meeting lasts from its first user to its last', async () => {
  const site = await controllerSite({ nodes })
  const key = await site.key()
  const { room_id } = await site.call(key, 'rooms.create', { topic: 'Ward round' })
  const since = async (): Promise<number> =>
    (await site.call(key, 'rooms.list', {})).items.find((room) => room.room_id === room_id)?.meeting_since ?? -1
  const join = async (user_id: string): Promise<number> =>
    (await site.call(key, 'lab.join', { room_id, user_id, user_name: user_id })).joined_at
  const leave = async (user_id: string): Promise<void> => {
    await site.call(key, 'lab.leave', { room_id, user_id })
  }

  expect(await since()).toBe(0)
  const began = await join('ann')
  expect(await since()).toBe(began)
  await join('bob')
  await leave('ann')
  expect(await since()).toBe(began)

  // People are lost with their node, and return.
  await site.call(key, 'lab.node_trouble', { name: 'Hall', mode: 'offline' })
  await expect.poll(since).toBe(0)
  await site.call(key, 'lab.node_trouble', { name: 'Hall', mode: 'none' })
  await expect
    .poll(() =>
      join('bob')
        .then(since)
        .catch(() => 0),
    )
    .toBe(began)

  await site.restart({ nodes })
  expect(await since()).toBe(0)
  await expect
    .poll(() =>
      join('chen')
        .then(since)
        .catch(() => 0),
    )
    .toBe(began)

  await leave('chen')
  expect(await since()).toBe(0)
  const next = await join('ann')
  expect(next).toBeGreaterThan(began)
  expect(await since()).toBe(next)
})
