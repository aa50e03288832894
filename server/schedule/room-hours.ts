import { meetingsAround } from './meetings.ts'
import type { Meeting, RoomSchedule } from '../../shared/schedule/room-schedule.ts'

/** Last scheduled change of a room that the controller applied. */
export interface ScheduleMark {
  /** Start of the meeting, in milliseconds since the epoch. */
  start: number
  state: 'open' | 'ended'
  /** Set if the operator opened the room early, or ended the meeting early. */
  by_operator?: true
}

/** Fields of a room that determine when it is open. */
export interface ScheduledRoom {
  /** Whether the operator closed the room. */
  closed: boolean
  schedule?: RoomSchedule
  schedule_mark?: ScheduleMark
}

/** Hours of a scheduled room at one time. */
export interface RoomHours {
  /** Whether people may join. */
  open: boolean
  /** Meeting for which the room is open, or was open last. */
  meeting: Meeting | undefined
  /** Next meeting after `meeting`. */
  next: Meeting | undefined
  /** Whether the end of the meeting has passed, so that the room stays open only while it is not empty. */
  overrun: boolean
  /** Latest time at which the room closes; 0: the room is closed, or stays open for the next meeting. */
  closesAt: number
  /** Next time at which the room opens; 0: the room is open, or never opens. */
  opensAt: number
  /** Next time at which these values may change; infinite: never. */
  changesAt: number
}

const minuteMs = 60_000

/** Computes the hours of a schedule from the schedule, the last applied change and the clock. O(1). */
export function hoursOf(schedule: RoomSchedule, mark: ScheduleMark | undefined, now: number): RoomHours {
  const early = schedule.early_minutes * minuteMs
  let { last, next } = meetingsAround(schedule, now)
  if (next !== undefined && mark?.start === next.start && mark.by_operator && mark.state === 'open') {
    // The room was opened early, so this meeting is the current meeting.
    last = next
    next = meetingsAround(schedule, next.start).next
  }
  const opening = next === undefined ? Number.POSITIVE_INFINITY : next.start - early
  const latest = last === undefined ? 0 : last.end + schedule.overrun_minutes * minuteMs
  const overrun = last !== undefined && now >= last.end && now < latest
  const ended = mark?.state === 'ended' && mark.start === last?.start && (overrun || mark.by_operator === true)
  const open = last !== undefined && now < latest && !ended
  const change = last !== undefined && open ? (now < last.end ? last.end : latest) : Number.POSITIVE_INFINITY
  return {
    open,
    meeting: last,
    next,
    overrun: open && overrun,
    closesAt: open && latest < opening ? latest : 0,
    opensAt: open || next === undefined ? 0 : opening,
    changesAt: Math.min(change, opening),
  }
}

/** Whether a room is closed by the operator, or outside its schedule. O(1). */
export function isShut({ closed, schedule, schedule_mark: mark }: ScheduledRoom, now = Date.now()): boolean {
  return closed || (schedule !== undefined && !hoursOf(schedule, mark, now).open)
}

/** Whether a room is shut only by its schedule. O(1). */
export function isOutsideSchedule(room: ScheduledRoom | undefined, now = Date.now()): boolean {
  return room?.schedule !== undefined && !room.closed && isShut(room, now)
}

/**
 * Returns the next opening time of a room outside its schedule, in milliseconds since the epoch; 0: no opening is
 * scheduled.
 */
export function opensNext({ closed, schedule, schedule_mark: mark }: ScheduledRoom, now = Date.now()): number {
  return closed || schedule === undefined ? 0 : hoursOf(schedule, mark, now).opensAt
}
