// @vitest-environment node
import { expect, test } from 'vitest'
import { asked, unknown, useActivityFilter } from '../../../renderer/console/pages/activity/useActivityFilter.ts'

test('a link to the page sets its filter', () => {
  const { choice, filter, active, clear } = useActivityFilter({ outcome: '401', credential: 'demo', api: 'media' })
  expect(filter.value).toEqual({ search: '', api: 'media', outcome: 401, credential: 'demo' })
  choice.room = '123'
  expect(filter.value).toMatchObject({ room: '123' })
  expect(active.value).toBe(true)
  clear()
  expect(filter.value).toEqual({ search: '' })
  expect(active.value).toBe(false)
})

test('invalid parts of a link are ignored', () => {
  expect(useActivityFilter({ api: 'other', outcome: 'odd', search: ['a'] }).filter.value).toEqual({ search: '' })
})

test('"without" and "unknown" are sent as empty, and an age as a timestamp', () => {
  const { choice } = useActivityFilter({})
  Object.assign(choice, { credential: unknown, operation: unknown, age: 60_000, slower: 100 })
  expect(asked(choice, 100_000)).toEqual({ search: '', credential: '', operation: '', since: 40_000, slower_than: 100 })
})
