import fc from 'fast-check'
import ICAL from 'ical.js'
import { describe, expect, test, vi } from 'vitest'
import { calendarFile } from '../../../renderer/console/pages/rooms/calendarFile.ts'
import { comingMeetings, fromFirstMeeting } from '../../../server/schedule/meetings.ts'
import { type RoomSchedule, roomScheduleSchema } from '../../../shared/schedule/room-schedule.ts'

/** Whoever imports the file has the meetings when the room has them, whatever the zones of browser, site and calendar are. */

const about = {
  id: 'r',
  title: 'Board',
  description: 'Join',
  url: 'https://example.org/room',
  start: 0,
  end: 3_600_000,
}
const schedule = (start: string, zone: string, rule: string): RoomSchedule =>
  roomScheduleSchema.parse({ start, minutes: 60, zone, rule })
const fileOf = (series: RoomSchedule): Promise<string> =>
  calendarFile({ ...about, series: { schedule: series, words: '' } })
const iso = (instant: number): string => new Date(instant).toISOString()

/** Reads a file as another program does: by its own rules and the zone that the file defines. */
function imported(file: string, count: number): { start: string; end: string }[] {
  const calendar = new ICAL.Component(ICAL.parse(file))
  const definition = calendar.getFirstSubcomponent('vtimezone')
  const zone = definition === null ? ICAL.Timezone.utcTimezone : new ICAL.Timezone(definition)
  const component = calendar.getFirstSubcomponent('vevent')
  if (component === null) throw new Error('no event')
  const event = new ICAL.Event(component)
  const instant = (time: ICAL.Time): number => {
    const given = time.zone === ICAL.Timezone.utcTimezone ? time : Object.assign(time.clone(), { zone })
    return given.toUnixTime() * 1_000
  }
  const starts = event.iterator()
  return Array.from({ length: count }, () => starts.next()).flatMap((time: ICAL.Time | null | undefined) => {
    if (!time) return []
    const start = instant(time)
    return [{ start: iso(start), end: iso(start + event.duration.toSeconds() * 1_000) }]
  })
}

/** Compares the first meetings. A room has those of ten years, a calendar those of all times. */
async function expectSame(series: RoomSchedule, count: number): Promise<void> {
  const ofRoom = comingMeetings(series, 0, count).map(({ start, end }) => ({ start: iso(start), end: iso(end) }))
  const found = imported(await fileOf(series), ofRoom.length + 1)
  expect(found.slice(0, ofRoom.length)).toEqual(ofRoom)
  const isEndless = !/UNTIL|COUNT/.test(series.rule)
  expect(isEndless || ofRoom.length === count || found.length === ofRoom.length).toBe(true)
}

test('the calendar file of a series has its rule, its last day, its zone and what this zone is', async () => {
  const file = await fileOf(
    schedule('2026-11-24T09:00', 'America/Los_Angeles', 'FREQ=WEEKLY;BYDAY=TU,TH;UNTIL=20270331'),
  )
  expect(file).toContain('DTSTART;TZID=America/Los_Angeles:20261124T090000')
  expect(file).toContain('DTEND;TZID=America/Los_Angeles:20261124T100000')
  expect(file).toContain('RRULE:FREQ=WEEKLY;BYDAY=TU,TH;UNTIL=20270401T065959Z')
  expect(file).toMatch(/DTSTAMP:\d{8}T\d{6}Z/)
  const definition = file.split('BEGIN:VTIMEZONE\r\n')[1]?.split('\r\nEND:VTIMEZONE')[0]
  expect(definition?.split('\r\n')).toEqual([
    'TZID:America/Los_Angeles',
    ...['BEGIN:STANDARD', 'DTSTART:20261101T020000', 'TZOFFSETFROM:-0700', 'TZOFFSETTO:-0800'],
    ...['RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU', 'END:STANDARD'],
    ...['BEGIN:DAYLIGHT', 'DTSTART:20270314T020000', 'TZOFFSETFROM:-0800', 'TZOFFSETTO:-0700'],
    ...['RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU', 'END:DAYLIGHT'],
  ])
})

test('a browser in Shanghai saves a series in UTC with its own day', async () => {
  vi.stubEnv('TZ', 'Asia/Shanghai')
  const file = await fileOf(schedule('2026-11-28T06:00', 'UTC', 'FREQ=WEEKLY;BYDAY=SA'))
  expect(file).toContain('DTSTART:20261128T060000Z')
  expect(file).not.toContain('VTIMEZONE')
})

describe('another program finds the meetings of the room', () => {
  const cases: [what: string, series: RoomSchedule][] = [
    ['weekly, over the days of 23 and 25 hours', schedule('2026-03-22T09:00', 'Europe/Berlin', 'FREQ=WEEKLY;BYDAY=SU')],
    ['in the night of 25 hours', schedule('2026-10-24T01:30', 'Europe/Berlin', 'FREQ=DAILY;COUNT=3')],
    ['monthly on the 31st', schedule('2027-01-31T23:30', 'US/Eastern', 'FREQ=MONTHLY;BYMONTHDAY=31')],
    ['on 29 February', schedule('2028-02-29T08:00', 'Australia/Lord_Howe', 'FREQ=MONTHLY;INTERVAL=12')],
    ['in a zone by its old name', schedule('2026-12-01T18:00', 'Asia/Calcutta', 'FREQ=WEEKLY;BYDAY=TU;UNTIL=20270601')],
    ['begun before a zone gave up summer time', schedule('2021-03-01T09:00', 'America/Mexico_City', 'FREQ=MONTHLY')],
    [
      'begun in the past, in a zone with other dates each year',
      schedule('2023-01-01T07:00', 'Africa/Cairo', 'FREQ=WEEKLY'),
    ],
    ['in a zone whose changes follow the moon', schedule('2025-01-03T12:00', 'Africa/Casablanca', 'FREQ=WEEKLY')],
  ]
  test.each(cases)('%s', async (_, series) => {
    vi.stubEnv('TZ', 'Pacific/Kiritimati')
    await expectSame(series, 30)
  })

  test('in any zone, by any rule', async () => {
    const zone = fc.constantFrom(...Intl.supportedValuesOf('timeZone'), 'US/Pacific', 'Asia/Saigon', 'UTC', 'GB')
    const rule = fc.constantFrom(
      ...['FREQ=DAILY;INTERVAL=9', 'FREQ=WEEKLY', 'FREQ=WEEKLY;BYDAY=MO,FR;COUNT=30', 'FREQ=MONTHLY;BYDAY=-1SU'],
      ...['FREQ=MONTHLY;BYMONTHDAY=-1', 'FREQ=MONTHLY;BYDAY=2TU;UNTIL=20300101', 'FREQ=MONTHLY;BYMONTHDAY=30'],
    )
    // Clocks change at night: what a program makes of a time that does not exist is its own.
    const minute = fc.integer({ min: 5 * 60, max: 22 * 60 })
    const day = fc.integer({ min: 0, max: 3_000 })
    const check = async (given: string, repeated: string, minutes: number, days: number): Promise<void> => {
      const start = iso(Date.UTC(2020, 0, 1 + days) + minutes * 60_000).slice(0, 16)
      const series = fromFirstMeeting(schedule(start, given, repeated))
      if (series !== undefined) await expectSame(series, 20)
    }
    await fc.assert(fc.asyncProperty(zone, rule, minute, day, check), { numRuns: 15 })
  })
})

test('a series that begins in the night of 25 hours keeps the length of its meetings', async () => {
  const series = schedule('2026-10-25T01:30', 'Europe/Berlin', 'FREQ=WEEKLY')
  expect(await fileOf({ ...series, minutes: 120 })).toContain('DTEND;TZID=Europe/Berlin:20261025T033000')
})

test('the calendar file of one meeting has its times in UTC', async () => {
  expect(await calendarFile(about)).toContain('DTSTART:19700101T000000Z')
})
