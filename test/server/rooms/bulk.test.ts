import { expect, test } from 'vitest'
import { inBulk } from '../../../server/rooms/bulk.ts'
import { ApiError } from '../../../shared/result-codes.ts'

test('each of many rooms is changed once, and failures have their reason', async () => {
  const errors: string[] = []
  const logger = { error: (_: object, message: string) => void errors.push(message) }
  const done: string[] = []
  const outcome = await inBulk(['a', 'b', 'a', 'c', 'd'], logger, async (key) => {
    if (key === 'b') throw new ApiError('roomNotFound')
    if (key === 'c') throw new Error('secret detail')
    done.push(key)
  })
  expect(outcome).toEqual({
    done: 2,
    failed: [
      { key: 'b', name: 'roomNotFound', values: {}, message: 'There is no such room.' },
      { key: 'c', name: 'internal', values: {}, message: 'An internal error occurred and was logged.' },
    ],
  })
  expect(done).toEqual(['a', 'd'])
  expect(errors).toHaveLength(1)
})

test('thousands of rooms are changed with a limited number at a time', async () => {
  let inside = 0
  let most = 0
  const keys = Array.from({ length: 1_000 }, (_, n) => String(n))
  const outcome = await inBulk(keys, { error: () => undefined }, async () => {
    inside += 1
    most = Math.max(most, inside)
    await new Promise((resolve) => setImmediate(resolve))
    inside -= 1
  })
  expect(outcome).toEqual({ done: 1_000, failed: [] })
  expect(most).toBe(64)
})
