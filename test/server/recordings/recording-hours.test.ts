import { expect, test } from 'vitest'
import { isWithinHours } from '../../../server/recordings/wanted-streams.ts'
import type { RecordingHours } from '../../../shared/recordings/recording-rule.ts'

const weekdays = [1, 2, 3, 4, 5]
const office: RecordingHours = { days: weekdays, from: '08:00', to: '18:00', zone: 'Europe/Berlin' }
const at = (text: string): number => Date.parse(text)

test('office hours begin and end by the clocks of their zone, in winter and in summer', () => {
  expect(isWithinHours([office], at('2026-11-25T06:59:59Z'))).toBe(false)
  expect(isWithinHours([office], at('2026-11-25T07:00:00Z'))).toBe(true)
  expect(isWithinHours([office], at('2026-11-25T16:59:59Z'))).toBe(true)
  expect(isWithinHours([office], at('2026-11-25T17:00:00Z'))).toBe(false)
  expect(isWithinHours([office], at('2026-07-01T06:00:00Z'))).toBe(true)
  expect(isWithinHours([office], at('2026-07-01T05:59:00Z'))).toBe(false)
})

test('nothing is recorded on other days, by the day of the zone', () => {
  expect(isWithinHours([office], at('2026-11-28T12:00:00Z'))).toBe(false)
  const tokyo = { ...office, from: '00:00', to: '06:00', zone: 'Asia/Tokyo' }
  // Sunday evening in London is Monday morning in Tokyo.
  expect(isWithinHours([tokyo], at('2026-11-22T18:00:00Z'))).toBe(true)
})

test('hours over midnight belong to the day on which they begin', () => {
  const night: RecordingHours = { days: [5], from: '22:00', to: '06:00', zone: 'UTC' }
  expect(isWithinHours([night], at('2026-11-27T22:00:00Z'))).toBe(true)
  expect(isWithinHours([night], at('2026-11-28T05:59:00Z'))).toBe(true)
  expect(isWithinHours([night], at('2026-11-28T06:00:00Z'))).toBe(false)
  expect(isWithinHours([night], at('2026-11-28T22:00:00Z'))).toBe(false)
  expect(isWithinHours([night], at('2026-11-27T05:00:00Z'))).toBe(false)
})

test('equal begin and end are the whole day, and any of several hours counts', () => {
  const sunday: RecordingHours = { days: [7], from: '06:00', to: '06:00', zone: 'UTC' }
  expect(isWithinHours([office, sunday], at('2026-11-29T06:00:00Z'))).toBe(true)
  expect(isWithinHours([office, sunday], at('2026-11-30T05:59:00Z'))).toBe(true)
  expect(isWithinHours([office, sunday], at('2026-11-29T05:59:00Z'))).toBe(false)
  expect(isWithinHours([], at('2026-11-29T05:59:00Z'))).toBe(false)
})
