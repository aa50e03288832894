import { joinLink } from '../../../../shared/media/room-page.ts'
import { shortLinkPath } from '../../../../shared/media/short-link.ts'
import type { Translate } from '../../i18n/text.ts'
import type { RoomView } from '../../../../shared/domain/rooms.ts'
import type { CalendarEvent, MeetingTime } from './calendarFile.ts'

interface InvitationLink {
  /** Short address of the link. */
  url: string
  /** Expiry in milliseconds since the epoch; 0: together with the room. */
  expires_at: number
  role: 'member' | 'host'
  /** Name of the only person who may use the link; empty: anybody. */
  name: string
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
