import type { RoomSchedule } from '../../../../shared/schedule/room-schedule.ts'
import { joinLink } from '../../../../shared/media/room-page.ts'
import { shortLinkPath } from '../../../../shared/media/short-link.ts'
import type { Translate } from '../../i18n/text.ts'
import type { RoomView } from '../../../../shared/domain/rooms.ts'

/** Link that an invitation holds. */
export interface InvitationLink {
  /** Short address. */
  url: string
  /** 0: it ends with its room. */
  expires_at: number
  role: 'member' | 'host'
  /** Name of the only person who may use it; empty: anybody. */
  name: string
}

/** Time of one meeting, in milliseconds since the epoch. */
export interface MeetingTime {
  start: number
  end: number
  /** Schedule of a meeting that repeats, and the same in words. */
  series?: { schedule: RoomSchedule; words: string }
}

/** An entry of a calendar. */
export interface CalendarEvent extends MeetingTime {
  /** The same for the same meeting, so that a calendar replaces what it imported before. */
  id: string
  title: string
  description: string
  url: string
}

/** What people get: a text, and an entry for their calendar if the meeting has a time. */
export interface Invitation {
  text: string
  /** Address in the text. It never expires if the room can be joined by number. */
  url: string
  /** When the address stops working, in milliseconds since the epoch; 0: never. */
  expires_at: number
  event: CalendarEvent | undefined
}

/** Texts and formats in the reader's language. */
export interface InvitationWording {
  t: Translate
  date: (at: number) => string
  period: (start: number, end: number) => string
}

/** Writes the invitation to a room. A room open to its number is joined at its plain address, without a link that expires. */
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

/** Address of a room that is open to its number. @param short short address of any link to it */
export function addressByNumber(short: string, roomId: string): string {
  return joinLink(`${short.slice(0, short.lastIndexOf(shortLinkPath))}/jroom/`, roomId, '')
}
