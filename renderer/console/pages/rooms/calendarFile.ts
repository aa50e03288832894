import type { CalendarEvent } from './invitation.ts'

/** Writes an event as an iCalendar file (RFC 5545), with its times in UTC. */
export async function calendarFile({ id, title, description, url, start, end }: CalendarEvent): Promise<string> {
  // Loaded when somebody saves the first file.
  const { default: ical } = await import('ical-generator')
  const calendar = ical({ prodId: { company: 'Roomdesk', product: 'Roomdesk' } })
  calendar.createEvent({
    id: `${id}@roomdesk`,
    start: new Date(start),
    end: new Date(end),
    summary: title,
    description,
    location: url,
    url,
  })
  return calendar.toString()
}
