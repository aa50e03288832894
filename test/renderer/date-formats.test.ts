import { mount } from '@vue/test-utils'
import { describe, expect, test, vi } from 'vitest'
import DateTimeInput from '../../renderer/console/components/DateTimeInput.vue'
import { i18n } from '../../renderer/console/i18n/index.ts'
import type * as ScheduleText from '../../renderer/console/pages/rooms/useScheduleText.ts'
import { dateFormats } from '../../renderer/kit/time/date-formats.ts'
import { momentOf, parseTime, wallTimeOf } from '../../renderer/kit/time/wall-time.ts'

const hourMs = 60 * 60_000
const minuteMs = 60_000

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

test('a computer whose zone does not exist counts in UTC', async () => {
  vi.stubEnv('TZ', 'Nowhere/At_All')
  // Another copy of the module, as a page's first load has it.
  const fresh = '../../renderer/console/pages/rooms/useScheduleText.ts?nowhere'
  const { ownZone }: typeof ScheduleText = await import(fresh)
  expect(ownZone).toBe('UTC')
})

describe('a field for a date and time', () => {
  test.each([
    ['9', '09:00'],
    ['930', '09:30'],
    [' 9:30 ', '09:30'],
    ['09.30', '09:30'],
    ['9：05', '09:05'],
    ['24:00', undefined],
    ['9:60', undefined],
    ['noon', undefined],
  ])('reads the typed time %j', (typed, time) => {
    expect(parseTime(typed)).toBe(time)
    expect(parseTime(typed, true)).toBe(time && `${time}:00`)
  })

  test.each(['Europe/Berlin', 'America/New_York', 'Asia/Shanghai', 'Australia/Lord_Howe'])(
    'gives each moment back in %s, also in the hour that occurs twice',
    (zone) => {
      vi.stubEnv('TZ', zone)
      for (const day of [Date.UTC(2026, 2, 8), Date.UTC(2026, 2, 29), Date.UTC(2026, 9, 25), Date.UTC(2026, 10, 1)])
        for (let at = day - 12 * hourMs; at < day + 36 * hourMs; at += 15 * minuteMs)
          expect(momentOf(wallTimeOf(at), at)).toBe(at)
    },
  )

  test.each([
    ['start', '2026-03-30T00:00'],
    ['end', '2026-03-30T23:59'],
    ['hour', '2026-03-30T15:00'],
  ] as const)(
    'a day that is chosen in an empty field has the %s as its time, and later days keep the typed one',
    async (firstTime, first) => {
      vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-03-29T14:20:00') })
      const field = mount(DateTimeInput, {
        props: { precision: 'minute', label: 'Start', modelValue: '', firstTime, clearable: true },
        global: { plugins: [i18n] },
        attachTo: document.body,
      })
      const values = () => (field.emitted('update:modelValue') ?? []).map(([value]) => value)
      const [day, time] = field.findAll('input')
      const choose = async (text: string): Promise<void> => {
        await day?.setValue(text)
        await day?.trigger('change')
        await field.setProps({ modelValue: String(values().at(-1)) })
      }
      await choose('30 Mar 2026')
      await time?.setValue('9:45')
      await time?.trigger('change')
      await field.setProps({ modelValue: '2026-03-30T09:45' })
      await field.setProps({ modelValue: '' })
      await choose('31 Mar 2026')
      expect(values()).toEqual([first, '2026-03-30T09:45', '2026-03-31T09:45'])
      field.unmount()
      vi.useRealTimers()
    },
  )

  test.each([
    ['en', '29 Mar 2026'],
    ['de', '29.03.2026'],
    ['zh', '2026/3/29'],
  ] as const)('%s: shows a wall time of another zone that the browser skips, and keeps it', async (language, shown) => {
    vi.stubEnv('TZ', 'Europe/Berlin')
    i18n.global.locale.value = language
    const field = mount(DateTimeInput, {
      props: { precision: 'minute', label: 'Start', modelValue: '2026-03-29T02:30' },
      global: { plugins: [i18n] },
      attachTo: document.body,
    })
    const [day, time] = field.findAll('input')
    expect([day?.element.value, time?.element.value]).toEqual([shown, '02:30'])
    await time?.setValue('2:45')
    await time?.trigger('change')
    expect(field.emitted('update:modelValue')?.at(-1)).toEqual(['2026-03-29T02:45'])
    await time?.setValue('half past')
    await time?.trigger('change')
    expect(field.emitted('update:modelValue')).toHaveLength(1)
    await day?.setValue(shown.replace('29', '30'))
    await day?.trigger('change')
    expect(field.emitted('update:modelValue')?.at(-1)).toEqual(['2026-03-30T02:45'])
    field.unmount()
    i18n.global.locale.value = 'en'
  })
})
