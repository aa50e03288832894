import { z } from 'zod'
import { rule } from '../refusals/complaints.ts'
import { isWallTime, ruleParts, wrongPart } from './repetition.ts'
import { isZone } from './zone.ts'

/** Maximum length of one meeting, and of the time before and after it in which the room is open, in minutes. */
export const maxMeetingMinutes = 24 * 60
export const maxEarlyMinutes = 120
export const maxOverrunMinutes = 12 * 60

/** Message for each part of a rule that is wrong or unsupported. */
const wrongParts = new Map<string, string>([
  ['form', rule('repetition')],
  ...ruleParts.map((part) => [part, rule('repetitionPart', { part })] as const),
])

/** When a room is open. Times are those of a clock on a wall in the zone: they follow its daylight saving. */
export const roomScheduleSchema = z.strictObject({
  /** First meeting, as `2026-11-25T09:00`. */
  start: z.string().refine(isWallTime, { error: rule('wallTime') }),
  /** Length of a meeting. */
  minutes: z.int().min(1).max(maxMeetingMinutes),
  /** IANA time zone, as `Europe/Berlin`. */
  zone: z
    .string()
    .max(64)
    .refine(isZone, { error: rule('timeZone') }),
  /** RRULE of RFC 5545 without its prefix, as `FREQ=WEEKLY;BYDAY=TU,TH;UNTIL=20270331`; empty: once. DAILY, WEEKLY and MONTHLY with INTERVAL, BYDAY, BYMONTHDAY, UNTIL or COUNT, and forms of other calendars that mean the same. */
  rule: z
    .string()
    .max(200)
    .superRefine((text, context) => {
      const wrong = text === '' ? undefined : wrongPart(text)
      if (wrong !== undefined) context.addIssue({ code: 'custom', message: wrongParts.get(wrong) ?? '' })
    })
    .default(''),
  /** The room opens this long before the start. */
  early_minutes: z.int().min(0).max(maxEarlyMinutes).default(5),
  /** While somebody is in the room, it stays open this long after the end; 0: it closes at the end. */
  overrun_minutes: z.int().min(0).max(maxOverrunMinutes).default(30),
})
export type RoomSchedule = z.output<typeof roomScheduleSchema>

/** One meeting of a schedule, in milliseconds since the epoch. */
export interface Meeting {
  start: number
  end: number
}
