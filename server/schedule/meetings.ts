import { RRuleTemporal } from 'rrule-temporal'
import type { Meeting, RoomSchedule } from '../../shared/schedule/room-schedule.ts'
import { parseRepetition, type Repetition, repetitionText } from '../../shared/schedule/repetition.ts'
import { instantOf, wallOf } from '../../shared/schedule/wall-clock.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** End of every repetition, in years after its start: a rule that never fits ends its search there. */
const maxYears = 10

/** The meetings around a moment: the last one whose room has opened by then, and the next one. */
export interface MeetingsAround {
  last: Meeting | undefined
  next: Meeting | undefined
}

interface Known extends MeetingsAround {
  /** It holds from here until there, in milliseconds since the epoch. */
  from: number
  until: number
}

/** Meetings by schedule, as last computed: a question costs nothing until the next room opens. */
const known = new WeakMap<RoomSchedule, Known>()

/** Finds the meetings around a moment. A pure function of the schedule and the moment; O(1) until the next meeting begins. */
export function meetingsAround(schedule: RoomSchedule, now: number): MeetingsAround {
  const before = known.get(schedule)
  if (before !== undefined && now >= before.from && now < before.until) return before
  const found = search(schedule, now)
  known.set(schedule, found)
  return found
}

/** Lists up to `most` meetings that end after a moment. */
export function comingMeetings(schedule: RoomSchedule, now: number, most: number): Meeting[] {
  const { last, next } = search({ ...schedule, early_minutes: 0 }, now)
  const list = last !== undefined && last.end > now ? [last] : []
  for (let meeting = next; meeting !== undefined && list.length < most; ) {
    list.push(meeting)
    meeting = search({ ...schedule, early_minutes: 0 }, meeting.start).next
  }
  return list
}

/** When the room hours of the last meeting end, in milliseconds since the epoch; 0: there is no schedule, or no meeting of it. */
export function meetingsEnd(schedule: RoomSchedule | undefined): number {
  if (schedule === undefined) return 0
  const last = new WallMeetings(schedule).last()
  return last === undefined
    ? 0
    : instantOf(schedule.zone, last) + (schedule.minutes + schedule.overrun_minutes) * minuteMs
}

/** The schedule with its start moved to the first meeting: a rule may leave out the day of the start. Undefined if no meeting ever takes place. */
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
  // Clocks go back an hour at most: a later meeting has not begun.
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

/** Starts of meetings as a wall clock shows them, in milliseconds of a UTC clock. */
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
      // Wall times run on a clock without daylight saving; `instantOf` brings them to the zone.
      rruleString: `DTSTART:${compact}\nRRULE:${bounded};UNTIL=${new Date(until).toISOString().replace(/[-:]|\.\d+/g, '')}`,
      cache: false,
    })
  }

  /** The last one at or before a time. */
  previous(wall: number): number | undefined {
    if (this.#start > wall) return undefined
    if (this.#rule === undefined) return this.#start
    return this.#rule.previous(new Date(wall), true)?.epochMilliseconds
  }

  /** The last one of all. */
  last(): number | undefined {
    return this.previous(this.#bound())
  }

  /** The first one after a time. */
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

/** Last wall time of a repetition; infinite for none. */
function lastWall({ until }: Repetition, zone: string): number {
  if (until === '') return Number.POSITIVE_INFINITY
  const iso = `${until.slice(0, 4)}-${until.slice(4, 6)}-${until.slice(6, 8)}`
  if (until.length === 8) return Date.parse(`${iso}T23:59:59Z`)
  return wallOf(zone, Date.parse(`${iso}T${until.slice(9, 11)}:${until.slice(11, 13)}:${until.slice(13, 15)}Z`))
}
