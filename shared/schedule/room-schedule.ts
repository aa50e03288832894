import { z } from 'zod'
import { rule } from '../refusals/complaints.ts'
import { isWallTime, ruleParts, wrongPart } from './repetition.ts'
import { isZone } from './zone.ts'

/**
 * Maximum length of a meeting, in minutes. `maxEarlyMinutes`, `maxOverrunMinutes`: maximum times before and after it
 * for which the room is open.
 */
export const maxMeetingMinutes = 24 * 60
export const maxEarlyMinutes = 120
export const maxOverrunMinutes = 12 * 60

/** Messages for each part of an RRULE that is invalid or unsupported. */
const wrongParts = new Map<string, string>([
  ['form', rule('repetition')],
  ...ruleParts.map((part) => [part, rule('repetitionPart', { part })] as const),
])

/** Times at which a room is open, as wall-clock times in the zone, which follow its daylight saving time. */
export const roomScheduleSchema = z.strictObject({
  /** Start of the first meeting, e.g. `2026-11-25T09:00`. */
  start: z.string().refine(isWallTime, { error: rule('wallTime') }),
  minutes: z.int().min(1).max(maxMeetingMinutes),
  /** IANA time zone, e.g. `Europe/Berlin`. */
  zone: z
    .string()
    .max(64)
    .refine(isZone, { error: rule('timeZone') }),
  /**
   * RRULE of RFC 5545 without its prefix, e.g. `FREQ=WEEKLY;BYDAY=TU,TH;UNTIL=20270331`; empty: a single meeting.
   * Supported are DAILY, WEEKLY and MONTHLY with INTERVAL, BYDAY, BYMONTHDAY, UNTIL or COUNT, and equivalent forms of
   * other calendars.
   */
  rule: z
    .string()
    .max(200)
    .superRefine((text, context) => {
      const wrong = text === '' ? undefined : wrongPart(text)
      if (wrong !== undefined) context.addIssue({ code: 'custom', message: wrongParts.get(wrong) ?? '' })
    })
    .default(''),
  /** Time before the start at which the room opens, in minutes. */
  early_minutes: z.int().min(0).max(maxEarlyMinutes).default(5),
  /** Maximum time after the end for which an occupied room stays open, in minutes; 0: the room closes at the end. */
  overrun_minutes: z.int().min(0).max(maxOverrunMinutes).default(30),
})
export type RoomSchedule = z.output<typeof roomScheduleSchema>

/** Meeting of a schedule, in milliseconds since the epoch. */
export interface Meeting {
  start: number
  end: number
}
