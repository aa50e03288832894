import { expect, test } from 'vitest'
import { LicenceCheck } from '../../../server/access/licence.ts'
import { licenceSchema } from '../../../shared/licence.ts'

const at = Date.parse('2026-11-20T12:00:00Z')
const check = (fields: object, used = { rooms: 0, users: 0 }, now = at) =>
  new LicenceCheck(
    () => licenceSchema.parse(fields),
    { rooms: () => used.rooms, users: () => used.users },
    () => now,
  )

test('a licence without an end never expires, and without limits it is never full', () => {
  const licence = check({}, { rooms: 1e6, users: 1e6 })
  expect([licence.expired(), licence.roomsFull(), licence.usersFull()]).toEqual([false, false, false])
  expect(licence.endsAt()).toBe(Number.POSITIVE_INFINITY)
})

test('a date lasts to the end of its day, a timestamp to that instant', () => {
  expect(check({ expires_at: '2026-11-20' }).expired()).toBe(false)
  expect(check({ expires_at: '2026-11-19' }).expired()).toBe(true)
  expect(check({ expires_at: '2026-11-20T13:00:00+01:00' }).expired()).toBe(false)
  expect(check({ expires_at: '2026-11-20T12:59:59+01:00' }).expired()).toBe(true)
})

test('a licence is full at its limit', () => {
  const limits = { max_rooms: 2, max_users: 3 }
  expect(check(limits, { rooms: 1, users: 2 }).roomsFull()).toBe(false)
  expect(check(limits, { rooms: 2, users: 2 }).roomsFull()).toBe(true)
  expect(check(limits, { rooms: 2, users: 2 }).usersFull()).toBe(false)
  expect(check(limits, { rooms: 2, users: 3 }).usersFull()).toBe(true)
})

test('another licence applies at once', () => {
  let licence = licenceSchema.parse({ expires_at: '2020-01-01' })
  const live = new LicenceCheck(() => licence, { rooms: () => 0, users: () => 0 })
  expect(live.expired()).toBe(true)
  licence = licenceSchema.parse({})
  expect(live.expired()).toBe(false)
})
