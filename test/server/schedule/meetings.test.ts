import { expect, test } from 'vitest'
import { comingMeetings, fromFirstMeeting, meetingsAround } from '../../../server/schedule/meetings.ts'
import { hoursOf, isShut } from '../../../server/schedule/room-hours.ts'
import { type RoomSchedule, roomScheduleSchema } from '../../../shared/schedule/room-schedule.ts'

const at = (text: string): number => Date.parse(text)
const iso = (instant: number): string => new Date(instant).toISOString().replace(':00.000Z', 'Z')
const schedule = (start: string, rule = '', more: Partial<RoomSchedule> = {}): RoomSchedule =>
  roomScheduleSchema.parse({ start, rule, minutes: 60, zone: 'Europe/Berlin', ...more })
const starts = (each: RoomSchedule, from = '2020-01-01T00:00Z', most = 5): string[] =>
  comingMeetings(each, at(from), most).map(({ start }) => iso(start))

test('a meeting keeps its local time across both clock changes', () => {
  const weekly = schedule('2026-03-24T09:00', 'FREQ=WEEKLY;BYDAY=TU')
  expect(starts(weekly, undefined, 2)).toEqual(['2026-03-24T08:00Z', '2026-03-31T07:00Z'])
  expect(starts(weekly, '2026-10-20T12:00Z', 1)).toEqual(['2026-10-27T08:00Z'])
  // 02:30 does not exist on 29 March: clocks show 03:30 then. On 25 October it exists twice.
  expect(starts(schedule('2026-03-28T02:30', 'FREQ=DAILY;COUNT=3'))).toEqual([
    '2026-03-28T01:30Z',
    '2026-03-29T01:30Z',
    '2026-03-30T00:30Z',
  ])
  expect(starts(schedule('2026-10-24T02:30', 'FREQ=DAILY;COUNT=3'))).toEqual([
    '2026-10-24T00:30Z',
    '2026-10-25T00:30Z',
    '2026-10-26T01:30Z',
  ])
})

test('a meeting during a clock change keeps its length', () => {
  const night = schedule('2026-10-25T01:30', '', { minutes: 120 })
  const [meeting] = comingMeetings(night, 0, 1)
  expect([iso(meeting?.start ?? 0), iso(meeting?.end ?? 0)]).toEqual(['2026-10-24T23:30Z', '2026-10-25T01:30Z'])
})

test('monthly meetings skip months without their day, or use the last one', () => {
  const utc = { zone: 'UTC' }
  expect(starts(schedule('2027-10-31T09:00', 'FREQ=MONTHLY', utc), undefined, 3)).toEqual([
    '2027-10-31T09:00Z',
    '2027-12-31T09:00Z',
    '2028-01-31T09:00Z',
  ])
  expect(starts(schedule('2028-01-31T09:00', 'FREQ=MONTHLY;BYMONTHDAY=-1', utc), undefined, 3)).toEqual([
    '2028-01-31T09:00Z',
    '2028-02-29T09:00Z',
    '2028-03-31T09:00Z',
  ])
  expect(starts(schedule('2028-02-29T09:00', 'FREQ=MONTHLY;INTERVAL=12', utc), undefined, 3)).toEqual([
    '2028-02-29T09:00Z',
    '2032-02-29T09:00Z',
    '2036-02-29T09:00Z',
  ])
  expect(starts(schedule('2026-11-01T09:00', 'FREQ=MONTHLY;BYDAY=2TU;COUNT=2', utc))).toEqual([
    '2026-11-10T09:00Z',
    '2026-12-08T09:00Z',
  ])
})

test('a repetition ends with its last day, its instant or its count, and after ten years at the latest', () => {
  const ends = ['UNTIL=20261203', 'UNTIL=20261203T080000Z', 'COUNT=4']
  for (const end of ends)
    expect(starts(schedule('2026-11-24T09:00', `FREQ=WEEKLY;BYDAY=TU,TH;${end}`), undefined, 9)).toEqual([
      '2026-11-24T08:00Z',
      '2026-11-26T08:00Z',
      '2026-12-01T08:00Z',
      '2026-12-03T08:00Z',
    ])
  const endless = schedule('2026-11-24T09:00', 'FREQ=DAILY')
  expect(starts(endless, '2036-11-22T12:00Z', 9)).toEqual(['2036-11-23T08:00Z', '2036-11-24T08:00Z'])
  const { last, next } = meetingsAround(endless, at('2040-01-01T00:00Z'))
  expect([iso(last?.start ?? 0), next]).toEqual(['2036-11-24T08:00Z', undefined])
})

test('the start moves to the first day of the rule; a rule without any day is reported', () => {
  expect(fromFirstMeeting(schedule('2026-11-25T09:00', 'FREQ=WEEKLY;BYDAY=TU'))?.start).toBe('2026-12-01T09:00')
  expect(fromFirstMeeting(schedule('2026-11-25T09:00'))?.start).toBe('2026-11-25T09:00')
  expect(fromFirstMeeting(schedule('2027-02-28T09:00', 'FREQ=MONTHLY;INTERVAL=12;BYMONTHDAY=31'))).toBeUndefined()
  expect(fromFirstMeeting(schedule('2026-11-25T09:00', 'FREQ=DAILY;UNTIL=20261124'))).toBeUndefined()
})

test('a room opens before the start, and stays open after the end until it is recorded as ended', () => {
  const once = schedule('2026-11-25T09:00', '', { early_minutes: 10, overrun_minutes: 30 })
  const start = at('2026-11-25T08:00Z')
  const open = (time: string, mark?: Parameters<typeof hoursOf>[1]): boolean => hoursOf(once, mark, at(time)).open
  expect(open('2026-11-25T07:49:59Z')).toBe(false)
  expect(open('2026-11-25T07:50Z')).toBe(true)
  expect(open('2026-11-25T09:29:59Z')).toBe(true)
  expect(open('2026-11-25T09:30Z')).toBe(false)
  expect(open('2026-11-25T09:10Z', { start, state: 'ended' })).toBe(false)
  // The clock was set back after the end: the meeting goes on.
  expect(open('2026-11-25T08:30Z', { start, state: 'ended' })).toBe(true)
  expect(open('2026-11-25T08:30Z', { start, state: 'ended', by_operator: true })).toBe(false)
  expect(open('2026-11-25T06:00Z', { start, state: 'open', by_operator: true })).toBe(true)
  expect(hoursOf(once, undefined, at('2026-11-25T06:00Z'))).toMatchObject({
    opensAt: at('2026-11-25T07:50Z'),
    changesAt: at('2026-11-25T07:50Z'),
  })
  expect(hoursOf(once, undefined, at('2026-11-25T12:00Z')).changesAt).toBe(Number.POSITIVE_INFINITY)
})

test('a clock that is set back finds the earlier meeting again', () => {
  const daily = schedule('2026-11-20T09:00', 'FREQ=DAILY')
  const dayOf = (time: string): string => iso(meetingsAround(daily, at(time)).last?.start ?? 0)
  expect(dayOf('2026-11-25T08:30Z')).toBe('2026-11-25T08:00Z')
  expect(dayOf('2026-11-23T08:30Z')).toBe('2026-11-23T08:00Z')
  expect(meetingsAround(daily, at('2026-11-19T08:30Z')).last).toBeUndefined()
})

test('rooms without a schedule, and rooms that the operator closed, have no hours', () => {
  expect(isShut({ closed: false })).toBe(false)
  expect(isShut({ closed: true, schedule: schedule('2026-11-25T09:00') }, at('2026-11-25T08:30Z'))).toBe(true)
})

test('a schedule is computed once per meeting, not per query', () => {
  const daily = schedule('2026-11-20T09:00', 'FREQ=DAILY')
  const now = at('2026-11-25T08:30Z')
  const first = meetingsAround(daily, now)
  for (let second = 0; second < 1_000; second++) expect(meetingsAround(daily, now + second * 1_000)).toBe(first)
})

test.each([
  ['start', { start: '2026-02-30T09:00' }],
  ['start', { start: '25.11.2026 09:00' }],
  ['minutes', { minutes: 0 }],
  ['minutes', { minutes: 1_441 }],
  ['zone', { zone: 'Mars/Olympus' }],
  ['zone', { zone: '+01:00' }],
  ['rule', { rule: 'FREQ=HOURLY' }],
  ['rule', { rule: 'FREQ=WEEKLY;BYDAY=XX' }],
  ['rule', { rule: 'FREQ=WEEKLY;BYDAY=2TU' }],
  ['rule', { rule: 'FREQ=DAILY;COUNT=1001' }],
  ['rule', { rule: 'FREQ=DAILY;COUNT=2;UNTIL=20261231' }],
  ['rule', { rule: 'FREQ=DAILY;UNTIL=20261331' }],
  ['rule', { rule: 'FREQ=DAILY\nEXDATE:20261124T090000' }],
  ['early_minutes', { early_minutes: -1 }],
  ['overrun_minutes', { overrun_minutes: 721 }],
])('a schedule with a bad %s is refused', (field, bad) => {
  const given = { start: '2026-11-25T09:00', minutes: 60, zone: 'UTC', ...bad }
  expect(roomScheduleSchema.safeParse(given).error?.issues.map(({ path }) => path[0])).toEqual([field])
})

test.each([
  ['FREQ=WEEKLY;WKST=SU;BYDAY=TU', 'FREQ=WEEKLY;BYDAY=TU'],
  ['FREQ=WEEKLY;INTERVAL=2;WKST=SU', 'FREQ=WEEKLY;INTERVAL=2'],
  ['FREQ=MONTHLY;WKST=SA;BYMONTHDAY=31', 'FREQ=MONTHLY;BYMONTHDAY=31'],
  ['FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR', 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'],
  ['FREQ=DAILY;INTERVAL=1;BYDAY=MO;COUNT=4', 'FREQ=WEEKLY;BYDAY=MO;COUNT=4'],
  ['FREQ=DAILY;BYMONTHDAY=15', 'FREQ=MONTHLY;BYMONTHDAY=15'],
  ['FREQ=MONTHLY;BYDAY=TU;BYSETPOS=2', 'FREQ=MONTHLY;BYDAY=2TU'],
  ['FREQ=MONTHLY;BYSETPOS=-1;BYDAY=FR', 'FREQ=MONTHLY;BYDAY=-1FR'],
  ['FREQ=MONTHLY;BYDAY=+1MO', 'FREQ=MONTHLY;BYDAY=1MO'],
  ['FREQ=YEARLY', 'FREQ=MONTHLY;INTERVAL=12'],
  ['FREQ=YEARLY;INTERVAL=2;WKST=SU', 'FREQ=MONTHLY;INTERVAL=24'],
  ['RRULE:freq=weekly;byday=tu;', 'FREQ=WEEKLY;BYDAY=TU'],
  ['FREQ=DAILY;UNTIL=20261231T235959', 'FREQ=DAILY;UNTIL=20261231'],
])('the rule %s of another calendar means %s', (foreign, own) => {
  const days = (rule: string): string[] => starts(schedule('2026-11-24T09:00', rule), undefined, 30)
  expect(days(foreign)).toEqual(days(own))
})

// RFC 5545, section 3.8.5.3: where weeks are left out, their first day decides which days belong together.
test.each([
  ['FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO', ['05', '10', '19', '24']],
  ['FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU', ['05', '17', '19', '31']],
  ['WKST=SU;FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU', ['05', '19', '02', '16']],
  ['FREQ=WEEKLY; INTERVAL=2;COUNT=3;BYDAY=TU;\n WKST=SU', ['05', '19', '02']],
])('the week of %s begins on its own first day', (rule, days) => {
  const found = starts(schedule('2025-08-05T09:00', rule), undefined, 4)
  expect(found.map((start) => start.slice(8, 10))).toEqual(days)
})

test.each([
  ['FREQ=DAILY;INTERVAL=2;BYDAY=MO', 'BYDAY'],
  ['FREQ=DAILY;BYDAY=FR;BYMONTHDAY=13', 'BYMONTHDAY'],
  ['FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=1', 'BYMONTH'],
  ['FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=1', 'BYDAY'],
  ['FREQ=HOURLY', 'FREQ'],
  ['FREQ=WEEKLY;BYHOUR=9,15', 'BYHOUR'],
  ['FREQ=WEEKLY;WKST=XX', 'WKST'],
])('the message about %s names %s', (rule, part) => {
  const given = { start: '2026-11-25T09:00', minutes: 60, zone: 'UTC', rule }
  expect(roomScheduleSchema.safeParse(given).error?.issues[0]?.message).toContain(`unsupported ${part}:`)
})
