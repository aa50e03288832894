import { expect, test } from 'vitest'
import { LicenceCheck } from '../../../server/access/licence.ts'
import { licenceSchema } from '../../../shared/licence.ts'

const at = Date.parse('2026-11-20T12:00:00Z')
const check = (fields: object) =>
  new LicenceCheck(
    () => licenceSchema.parse(fields),
    () => at,
  )

test('a licence without an end never expires', () => {
  const licence = check({})
  expect(licence.expired()).toBe(false)
  expect(licence.endsAt()).toBe(Number.POSITIVE_INFINITY)
})

test('a date lasts to the end of its day, a timestamp to that instant', () => {
  expect(check({ expires_at: '2026-11-20' }).expired()).toBe(false)
  expect(check({ expires_at: '2026-11-19' }).expired()).toBe(true)
  expect(check({ expires_at: '2026-11-20T13:00:00+01:00' }).expired()).toBe(false)
  expect(check({ expires_at: '2026-11-20T12:59:59+01:00' }).expired()).toBe(true)
})

test('another licence takes effect at once', () => {
  let licence = licenceSchema.parse({ expires_at: '2020-01-01' })
  const live = new LicenceCheck(() => licence)
  expect(live.expired()).toBe(true)
  licence = licenceSchema.parse({})
  expect(live.expired()).toBe(false)
})
