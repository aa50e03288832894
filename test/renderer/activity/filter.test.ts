import { expect, test } from 'vitest'
import { asked, unknown, useActivityFilter } from '../../../renderer/console/pages/activity/useActivityFilter.ts'
import { atAddress } from '../at-address.ts'

test('a link to the page sets its filter, also while the page is open; clearing it also clears the address', async () => {
  const { used, router } = await atAddress('/activity?outcome=401&credential=demo&api=media', useActivityFilter)
  const { choice, filter, active, clear } = used
  expect(filter.value).toEqual({ search: '', api: 'media', outcome: 401, credential: 'demo' })
  choice.room = '123'
  expect(filter.value).toMatchObject({ room: '123' })
  expect(active.value).toBe(true)
  await router.push('/activity?search=board')
  expect(filter.value).toEqual({ search: 'board' })
  clear()
  expect(filter.value).toEqual({ search: '' })
  expect(active.value).toBe(false)
  await expect.poll(() => router.currentRoute.value.fullPath).toBe('/activity')
})

test('invalid parts of a link are ignored', async () => {
  const { used } = await atAddress('/activity?api=other&outcome=odd&search=a&search=b', useActivityFilter)
  expect(used.filter.value).toEqual({ search: '' })
})

test('"without" and "unknown" are sent as empty, and an age as a timestamp', async () => {
  const { used } = await atAddress('/activity', useActivityFilter)
  Object.assign(used.choice, { credential: unknown, operation: unknown, age: 60_000, slower: 100 })
  expect(asked(used.choice, 100_000)).toEqual({
    search: '',
    credential: '',
    operation: '',
    since: 40_000,
    slower_than: 100,
  })
})
