import type { RoomSchedule } from '../../../../shared/schedule/room-schedule.ts'
import { joinLink } from '../../../../shared/media/room-page.ts'
import { shortLinkPath } from '../../../../shared/media/short-link.ts'
import type { Translate } from '../../i18n/text.ts'
import type { RoomView } from '../../../../shared/domain/rooms.ts'
import { parseRepetition, repetitionText } from '../../../../shared/schedule/repetition.ts'

interface InvitationLink {
  /** Short address of the link. */
  url: string
  /** Expiry in milliseconds since the epoch; 0: together with the room. */
  expires_at: number
  role: 'member' | 'host'
  /** Name of the only person who may use the link; empty: anybody. */
  name: string
}

/** Time of one meeting, in milliseconds since the epoch. */
export interface MeetingTime {
  start: number
  end: number
  /** Schedule of a repeated meeting, and its description. */
  series?: { schedule: RoomSchedule; words: string }
}

interface CalendarEvent extends MeetingTime {
  /** Constant for a meeting, so that another import replaces its entry in the calendar. */
  id: string
  title: string
  description: string
  url: string
}

/** An invitation: a text, and a calendar entry if the meeting has a time. */
interface Invitation {
  text: string
  /** Address in the text. It never expires if the room can be joined by number. */
  url: string
  /** Expiry of the address, in milliseconds since the epoch; 0: never. */
  expires_at: number
  event: CalendarEvent | undefined
}

/** Texts and formats in the operator's language. */
interface InvitationWording {
  t: Translate
  date: (at: number) => string
  period: (start: number, end: number) => string
}

/**
 * Returns the invitation to a room. A room that can be joined by its number has a plain address, which never expires.
 */
export function invitation(
  room: Pick<RoomView, 'room_id' | 'topic' | 'waiting_room' | 'open_to_number'>,
  link: InvitationLink,
  { t, date, period }: InvitationWording,
  time?: MeetingTime,
): Invitation {
  const forAnybody = link.role === 'member' && link.name === ''
  const byNumber = room.open_to_number && forAnybody
  const url = byNumber ? addressByNumber(link.url, room.room_id) : link.url
  const title = room.topic || room.room_id
  const about = [
    t('media.invitation.address', { url }),
    t('media.invitation.room', { room: room.room_id }),
    '',
    t('media.invitation.how'),
    ...(link.role === 'host' ? [t('media.invitation.host')] : []),
    ...(room.waiting_room && link.role === 'member' ? [t('media.invitation.waiting')] : []),
    ...(link.name === '' ? [] : [t('media.invitation.personal', { name: link.name })]),
    ...(byNumber || link.expires_at === 0 ? [] : [t('media.invitation.until', { time: date(link.expires_at) })]),
  ].join('\n')
  const head = [
    t('media.invitation.title', { topic: title }),
    '',
    ...(time === undefined
      ? []
      : [t('media.invitation.time', { time: time.series?.words ?? period(time.start, time.end) })]),
  ].join('\n')
  return {
    text: `${head}\n${about}`.replace('\n\n\n', '\n\n'),
    url,
    expires_at: byNumber ? 0 : link.expires_at,
    event: time && {
      ...time,
      id: `${room.room_id}-${time.series === undefined ? time.start : 'series'}`,
      title,
      description: about,
      url,
    },
  }
}

/**
 * Returns the address of a room that can be joined by its number. @param short short address of any link to the room
 */
export function addressByNumber(short: string, roomId: string): string {
  return joinLink(`${short.slice(0, short.lastIndexOf(shortLinkPath))}/jroom/`, roomId, '')
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
