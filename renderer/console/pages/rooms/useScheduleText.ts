import { computed } from 'vue'
import { parseRepetition, type Repetition, weekdays } from '../../../../shared/schedule/repetition.ts'
import type { Meeting, RoomSchedule } from '../../../../shared/schedule/room-schedule.ts'
import { dateFormats } from '../../../kit/time/date-formats.ts'
import { useFormat } from '../../composables/useFormat.ts'
import { type TextKey, useText } from '../../i18n/text.ts'

const dayMs = 24 * 60 * 60_000
const minuteMs = 60_000
/** A Monday, from which the names of the weekdays are formatted. */
const monday = Date.UTC(2024, 0, 1)
/** IANA time zone of this browser; UTC if the system reports an unknown one, e.g. in the variable `TZ`. */
export const ownZone: string = (new Intl.DateTimeFormat().resolvedOptions() as { timeZone?: string }).timeZone ?? 'UTC'

/** Describes schedules and meetings. */
export function useScheduleText() {
  const { t, language } = useText()
  const { list } = useFormat()
  // Wall times are formatted as UTC, so that they are not converted to the browser's zone.
  const wall = computed(() => dateFormats(language.value, 'UTC'))
  const local = computed(() => dateFormats(language.value))

  /** Returns "Tuesday" for TU. */
  function weekdayName(code: string, width: 'long' | 'short' = 'long'): string {
    const index = weekdays.findIndex((each) => each === code)
    return wall.value.weekday(monday + Math.max(0, index) * dayMs, width)
  }

  /** Returns "second Tuesday" for 2TU. */
  function ordinalDay(code: string): string {
    const ordinal: Record<string, TextKey> = {
      '1': 'schedule.first',
      '2': 'schedule.second',
      '3': 'schedule.third',
      '4': 'schedule.fourth',
      '-1': 'schedule.last',
    }
    return t(ordinal[code.slice(0, -2)] ?? 'schedule.first', { weekday: weekdayName(code.slice(-2)) })
  }

  /** Returns e.g. "Every Tuesday and Thursday". */
  function repetitionText({ frequency, interval: n, weekdays: days, monthDay }: Repetition, start: number): string {
    if (frequency === 'DAILY') return t('schedule.words.daily', { n })
    if (frequency === 'WEEKLY') {
      const codes = days.length > 0 ? weekdays.filter((each) => days.includes(each)) : [weekdayOf(start)]
      return t('schedule.words.weekly', { n, days: list(codes.map((code) => weekdayName(code))) })
    }
    if (days.length > 0) return t('schedule.words.monthlyWeekday', { n, day: list(days.map(ordinalDay)) })
    if (monthDay === -1) return t('schedule.words.monthlyLast', { n })
    return t('schedule.words.monthlyDay', { n, day: monthDay || new Date(start).getUTCDate() })
  }

  function endText({ until, count }: Repetition): string {
    if (count > 0) return t('schedule.words.count', { n: count })
    if (until === '') return ''
    const at = Date.parse(`${until.slice(0, 4)}-${until.slice(4, 6)}-${until.slice(6, 8)}T00:00Z`)
    return t('schedule.words.until', { date: wall.value.day(at) })
  }

  /** Returns e.g. "Every Tuesday and Thursday, 09:00 to 10:00, until 31 March 2027". */
  function scheduleText({ start, minutes, zone, rule }: RoomSchedule): string {
    const from = Date.parse(`${start}Z`)
    if (Number.isNaN(from)) return ''
    const repetition = rule === '' ? undefined : parseRepetition(rule)
    const day = repetition === undefined ? wall.value.weekdayDay(from, 'long') : repetitionText(repetition, from)
    const time = t('time.fromTo', {
      from: wall.value.minute(from),
      to: wall.value.minute(from + minutes * minuteMs),
    })
    const end = repetition === undefined ? '' : endText(repetition)
    const parts = [day, time, end, zone === ownZone ? '' : zone.replaceAll('_', ' ')]
    return parts.filter((part) => part !== '').join(t('schedule.words.comma'))
  }

  /** Returns e.g. "Tue 1 Dec, 09:00 – 10:00" in the browser's zone; without the day if it is today. */
  function meetingText({ start, end }: Meeting, now: number, short = false): string {
    const { isSameDay, minute, minuteRange, nearDayMinute, nearDayMinuteRange } = local.value
    if (isSameDay(start, now)) return short ? minute(start) : minuteRange(start, end)
    return short ? nearDayMinute(start) : nearDayMinuteRange(start, end)
  }

  /** "09:00" */
  const timeText = (at: number): string => local.value.minute(at)
  /** "09:00 – 10:00" */
  const hoursText = ({ start, end }: Pick<Meeting, 'start' | 'end'>): string => local.value.minuteRange(start, end)

  return { hoursText, meetingText, ordinalDay, scheduleText, timeText, weekdayName }
}

/** Returns the code of the weekday of a wall time. @param wall wall time in milliseconds, as UTC */
export function weekdayOf(wall: number): (typeof weekdays)[number] {
  return weekdays[(new Date(wall).getUTCDay() + 6) % 7] ?? 'MO'
}
