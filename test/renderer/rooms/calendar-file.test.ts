import { expect, test } from 'vitest'
import { calendarFile } from '../../../renderer/console/pages/rooms/calendarFile.ts'
import { roomScheduleSchema } from '../../../shared/schedule/room-schedule.ts'

const about = {
  id: 'r',
  title: 'Board',
  description: 'Join',
  url: 'https://example.org/room',
  start: 0,
  end: 3_600_000,
}

test('the calendar file of a series has its rule, zone and last day', async () => {
  const schedule = roomScheduleSchema.parse({
    start: '2026-11-24T09:00',
    minutes: 60,
    zone: 'America/Los_Angeles',
    rule: 'FREQ=WEEKLY;BYDAY=TU,TH;UNTIL=20270331',
  })
  const file = await calendarFile({ ...about, series: { schedule, words: '' } })
  expect(file).toContain('DTSTART;TZID=America/Los_Angeles:20261124T090000')
  expect(file).toContain('DTEND;TZID=America/Los_Angeles:20261124T100000')
  expect(file).toContain('RRULE:FREQ=WEEKLY;BYDAY=TU,TH;UNTIL=20270401T065959Z')
})

test('the calendar file of one meeting has its times in UTC', async () => {
  expect(await calendarFile(about)).toContain('DTSTART:19700101T000000Z')
})
