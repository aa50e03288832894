import { parseRepetition, repetitionText } from '../../../../shared/schedule/repetition.ts'
import type { RoomSchedule } from '../../../../shared/schedule/room-schedule.ts'
import { instantOf } from '../../../../shared/schedule/wall-clock.ts'
import type { CalendarEvent } from './invitation.ts'

const minuteMs = 60_000

/** Writes an event as an iCalendar file (RFC 5545): one meeting with its times in UTC, a series with those of its time zone, so that they follow its daylight saving. */
export async function calendarFile({
  id,
  title,
  description,
  url,
  start,
  end,
  series,
}: CalendarEvent): Promise<string> {
  // Loaded when somebody saves the first file.
  const { default: ical } = await import('ical-generator')
  const calendar = ical({ prodId: { company: 'Roomdesk', product: 'Roomdesk' } })
  calendar.createEvent({
    id: `${id}@roomdesk`,
    ...(series === undefined ? { start: new Date(start), end: new Date(end) } : seriesOf(series.schedule)),
    summary: title,
    description,
    location: url,
    url,
  })
  return calendar.toString()
}

/** A series begins with its first meeting, from which its rule counts. */
function seriesOf({ start, minutes, zone, rule }: RoomSchedule) {
  // Dates with a zone are written as the clock of this machine shows them.
  const first = new Date(start)
  const end = new Date(first.getTime() + minutes * minuteMs)
  return { start: first, end, timezone: zone, repeating: `RRULE:${withInstant(rule, zone)}` }
}

/** The rule with the end of its last day as an instant: the start has a time zone. */
function withInstant(rule: string, zone: string): string {
  const repetition = parseRepetition(rule)
  if (repetition === undefined) return rule
  if (repetition.until.length !== 8) return repetitionText(repetition)
  const { until } = repetition
  const wall = Date.parse(`${until.slice(0, 4)}-${until.slice(4, 6)}-${until.slice(6, 8)}T23:59:59Z`)
  const instant = new Date(instantOf(zone, wall)).toISOString().replace(/[-:]|\.\d+/g, '')
  return repetitionText({ ...repetition, until: instant })
}
