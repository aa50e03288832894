import { RRuleTemporal } from 'rrule-temporal'
import type { Meeting, RoomSchedule } from '../../shared/schedule/room-schedule.ts'
import { parseRepetition, type Repetition, repetitionText } from '../../shared/schedule/repetition.ts'
import { instantOf, wallOf } from '../../shared/schedule/wall-clock.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** Maximum span of a repetition, in years after its start. Limits the search for a rule that never matches. */
const maxYears = 10

/** The meetings around a time: the last meeting whose room has opened, and the next meeting. */
export interface MeetingsAround {
  last: Meeting | undefined
  next: Meeting | undefined
}

interface Known extends MeetingsAround {
  /** Start of the validity, in milliseconds since the epoch. */
  from: number
  until: number
}

/** Cache of the last computed meetings by schedule, valid until the next room opens. */
const known = new WeakMap<RoomSchedule, Known>()

/**
 * Finds the meetings around a time. A pure function of the schedule and the time; O(1) until the next meeting starts.
 */
export function meetingsAround(schedule: RoomSchedule, now: number): MeetingsAround {
  const before = known.get(schedule)
  if (before !== undefined && now >= before.from && now < before.until) return before
  const found = search(schedule, now)
  known.set(schedule, found)
  return found
}

/** Lists up to `max` meetings that end after a time. */
export function comingMeetings(schedule: RoomSchedule, now: number, max: number): Meeting[] {
  const { last, next } = search({ ...schedule, early_minutes: 0 }, now)
  const list = last !== undefined && last.end > now ? [last] : []
  for (let meeting = next; meeting !== undefined && list.length < max; ) {
    list.push(meeting)
    meeting = search({ ...schedule, early_minutes: 0 }, meeting.start).next
  }
  return list
}

/**
 * Returns the end of the room hours of the last meeting, in milliseconds since the epoch; 0 without a schedule or
 * meetings.
 */
export function meetingsEnd(schedule: RoomSchedule | undefined): number {
  if (schedule === undefined) return 0
  const last = new WallMeetings(schedule).last()
  return last === undefined
    ? 0
    : instantOf(schedule.zone, last) + (schedule.minutes + schedule.overrun_minutes) * minuteMs
}

/**
 * Returns the schedule with its start moved to the first meeting, because a rule may exclude the day of the start.
 * undefined: no meeting ever takes place.
 */
export function fromFirstMeeting(schedule: RoomSchedule): RoomSchedule | undefined {
  const first = new WallMeetings(schedule).next(Number.NEGATIVE_INFINITY)
  if (first === undefined) return undefined
  const start = new Date(first).toISOString().slice(0, 19).replace(/:00$/, '')
  return start === schedule.start.replace(/(T\d\d:\d\d):00$/, '$1') ? schedule : { ...schedule, start }
}

function search(schedule: RoomSchedule, now: number): Known {
  const { zone, minutes } = schedule
  const walls = new WallMeetings(schedule)
  const instants = (wall: number): Meeting => {
    const start = instantOf(zone, wall)
    return { start, end: start + minutes * minuteMs }
  }
  const opening = (meeting: Meeting): number => meeting.start - schedule.early_minutes * minuteMs
  // Clocks go back by at most an hour, so a meeting later than this has not started.
  let wall = walls.previous(wallOf(zone, now + schedule.early_minutes * minuteMs) + hourMs)
  while (wall !== undefined && opening(instants(wall)) > now) wall = walls.previous(wall - 1)
  const last = wall === undefined ? undefined : instants(wall)
  const nextWall = walls.next(wall ?? Number.NEGATIVE_INFINITY)
  const next = nextWall === undefined ? undefined : instants(nextWall)
  return {
    last,
    next,
    from: last === undefined ? Number.NEGATIVE_INFINITY : opening(last),
    until: next === undefined ? Number.POSITIVE_INFINITY : opening(next),
  }
}

/** Starts of meetings in wall-clock time, as milliseconds since the epoch if the zone were UTC. */
class WallMeetings {
  readonly #start: number
  readonly #rule: RRuleTemporal | undefined

  constructor({ start, rule, zone }: RoomSchedule) {
    this.#start = Date.parse(`${start}Z`)
    const repetition = rule === '' ? undefined : parseRepetition(rule)
    if (repetition === undefined) return
    const compact = new Date(this.#start).toISOString().replace(/[-:]|\.\d+/g, '')
    const until = Math.min(this.#bound(), lastWall(repetition, zone))
    const bounded = repetitionText({ ...repetition, until: '' })
    this.#rule = new RRuleTemporal({
      // Wall-clock times are computed without daylight saving; `instantOf` converts them to the time zone.
      rruleString: `DTSTART:${compact}\nRRULE:${bounded};UNTIL=${new Date(until).toISOString().replace(/[-:]|\.\d+/g, '')}`,
      cache: false,
    })
  }

  /** Returns the last start at or before a time. */
  previous(wall: number): number | undefined {
    if (this.#start > wall) return undefined
    if (this.#rule === undefined) return this.#start
    return this.#rule.previous(new Date(wall), true)?.epochMilliseconds
  }

  /** Returns the last start of the repetition. */
  last(): number | undefined {
    return this.previous(this.#bound())
  }

  /** Returns the first start after a time. */
  next(wall: number): number | undefined {
    if (this.#rule === undefined) return this.#start > wall ? this.#start : undefined
    if (wall < this.#start) return this.#rule.next(new Date(this.#start), true)?.epochMilliseconds
    return this.#rule.next(new Date(wall), false)?.epochMilliseconds
  }

  #bound(): number {
    const date = new Date(this.#start)
    return date.setUTCFullYear(date.getUTCFullYear() + maxYears)
  }
}

/** Returns the last wall-clock time of a repetition; infinite without an end. */
function lastWall({ until }: Repetition, zone: string): number {
  if (until === '') return Number.POSITIVE_INFINITY
  const iso = `${until.slice(0, 4)}-${until.slice(4, 6)}-${until.slice(6, 8)}`
  if (until.length === 8) return Date.parse(`${iso}T23:59:59Z`)
  return wallOf(zone, Date.parse(`${iso}T${until.slice(9, 11)}:${until.slice(11, 13)}:${until.slice(13, 15)}Z`))
}
