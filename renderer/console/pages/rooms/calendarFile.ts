import { parseRepetition, repetitionText } from '../../../../shared/schedule/repetition.ts'
import type { RoomSchedule } from '../../../../shared/schedule/room-schedule.ts'

/** Time of one meeting, in milliseconds since the epoch. */
export interface MeetingTime {
  start: number
  end: number
  /** Schedule of a repeated meeting, and its description. */
  series?: { schedule: RoomSchedule; words: string }
}

/** Entry of a calendar. */
export interface CalendarEvent extends MeetingTime {
  /** Constant for a meeting, so that another import replaces its entry in the calendar. */
  id: string
  title: string
  description: string
  url: string
}

/**
 * Returns an iCalendar file (RFC 5545) of an event. A single meeting has times in UTC; a series has times in its zone,
 * and the definition of the zone.
 */
export async function calendarFile({
  id,
  title,
  description,
  url,
  start,
  end,
  series,
}: CalendarEvent): Promise<string> {
  // Loaded only when a file is saved.
  const { default: ical } = await import('ical-generator')
  const times = series === undefined ? undefined : await seriesTimes(series.schedule)
  const calendar = ical({
    prodId: { company: 'Roomdesk', product: 'Roomdesk' },
    timezone: { name: null, generator: () => times?.definition ?? null },
  })
  calendar.createEvent({
    id: `${id}@roomdesk`,
    ...(times?.event ?? { start: new Date(start), end: new Date(end) }),
    summary: title,
    description,
    location: url,
    url,
  })
  return calendar.toString()
}

/**
 * Returns the times of a series, which starts with its first meeting, and the definition of its zone. UTC needs no
 * definition.
 */
async function seriesTimes({ start, minutes, zone, rule }: RoomSchedule) {
  const [{ instantOf, zonedOf }, { zoneDefinition }] = await Promise.all([
    import('../../../../shared/schedule/wall-clock.ts'),
    import('../../../../shared/schedule/zone-definition.ts'),
  ])
  const first = zonedOf(zone, Date.parse(`${start}Z`))
  const isUtc = first.timeZoneId === 'UTC'
  const event = {
    start: first,
    // In wall time: an exact end in a night in which clocks change would change the length of all meetings.
    end: first.toPlainDateTime().add({ minutes }).toZonedDateTime(first.timeZoneId),
    ...(isUtc ? {} : { timezone: first.timeZoneId }),
    repeating: `RRULE:${withInstant(rule, (wall) => instantOf(zone, wall))}`,
  }
  return { event, definition: isUtc ? null : zoneDefinition(first) }
}

/** Replaces the last day of a rule by an instant, which RFC 5545 requires if the start has a time zone. */
function withInstant(rule: string, instantOf: (wall: number) => number): string {
  const repetition = parseRepetition(rule)
  if (repetition === undefined) return rule
  if (repetition.until.length !== 8) return repetitionText(repetition)
  const { until } = repetition
  const wall = Date.parse(`${until.slice(0, 4)}-${until.slice(4, 6)}-${until.slice(6, 8)}T23:59:59Z`)
  const instant = new Date(instantOf(wall)).toISOString().replace(/[-:]|\.\d+/g, '')
  return repetitionText({ ...repetition, until: instant })
}
