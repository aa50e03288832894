import { describe, expect, test } from 'vitest'
import { dateFormats } from '../../renderer/kit/time/date-formats.ts'

const hourMs = 60 * 60_000

describe('a date and time on a page', () => {
  test.each([
    ['en', '5 Sept 2026, 14:05', 'Sat 5 Sept, 14:05 – 15:05', '5 Sept 2026, 14:05 – 6 Sept 2026, 14:05'],
    ['de', '05.09.2026, 14:05', 'Sa., 05.09., 14:05 – 15:05', '05.09.2026, 14:05 – 06.09.2026, 14:05'],
    ['zh', '2026/9/5 14:05', '9/5周六 14:05 – 15:05', '2026/9/5 14:05 – 2026/9/6 14:05'],
  ])('%s: has one format, with the time in 24 hours', (language, stamp, near, days) => {
    const at = Date.UTC(2026, 8, 5, 12, 5)
    const formats = dateFormats(language, 'Europe/Berlin')
    expect(formats.dayMinute(at)).toBe(stamp)
    expect(formats.nearDayMinuteRange(at, at + hourMs)).toBe(near)
    expect(formats.dayMinuteRange(at, at + 24 * hourMs)).toBe(days)
    expect(formats.dayMinuteRange(at + 9_000, at + 40_000)).toBe(`${stamp}:09 – 14:05:40`)
    expect(stamp).toContain(formats.day(at))
    expect(stamp).toContain(formats.minute(at))
  })

  test('is of the zone that applies: one moment is on two days in two zones', () => {
    const at = Date.UTC(2026, 10, 20, 23, 30)
    expect(dateFormats('en', 'America/New_York').dayMinute(at)).toBe('20 Nov 2026, 18:30')
    expect(dateFormats('en', 'Asia/Shanghai').dayMinute(at)).toBe('21 Nov 2026, 07:30')
    expect(dateFormats('en', 'Asia/Shanghai').zoneName(at)).toBe('GMT+8')
    expect(dateFormats('en', 'America/New_York').isSameDay(at, at + hourMs)).toBe(true)
    expect(dateFormats('en', 'Europe/London').isSameDay(at, at + hourMs)).toBe(false)
  })

  test('follows the clock through days of 23 and 25 hours', () => {
    const { minuteRange, zoneName } = dateFormats('en', 'Europe/Berlin')
    const spring = Date.UTC(2026, 2, 29, 0, 30)
    expect(minuteRange(spring, spring + hourMs)).toBe('01:30 – 03:30')
    const autumn = Date.UTC(2026, 9, 25, 0, 30)
    expect(minuteRange(autumn, autumn + hourMs)).toBe('02:30 – 02:30')
    expect([zoneName(autumn), zoneName(autumn + hourMs)]).toEqual(['CEST', 'CET'])
  })
})
