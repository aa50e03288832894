import type { Temporal } from 'temporal-polyfill'
import { weekdays } from './repetition.ts'

/** Number of years after the start for which a definition is valid. Schedules end after ten years. */
const coveredYears = 11

/** Change of a zone's offset from UTC. */
interface OffsetChange {
  /** Wall-clock time of the change, with the offset before the change. */
  wall: Temporal.PlainDateTime
  before: string
  after: string
  /** Whether clocks are set forward. */
  isForward: boolean
  utc: Temporal.PlainDateTime
}

/**
 * Returns the definition of a zone (VTIMEZONE, RFC 5545, section 3.6.5) for events from `first` on. Calendars need the
 * definition, because Outlook does not recognize the name alone.
 * @param first start of the first event, in the zone
 */
export function zoneDefinition(first: Temporal.ZonedDateTime): string {
  const last = first.add({ years: coveredYears })
  // `previous` finds only changes before its time, so one nanosecond is added to include a change at the start itself.
  const begin = first.add({ nanoseconds: 1 }).getTimeZoneTransition('previous')
  // Offsets before 1970 may contain seconds, so a fixed offset is used until the next change.
  const isOld = begin === null || begin.epochMilliseconds < 0
  const changes = changesFrom(isOld ? first.getTimeZoneTransition('next') : begin, last)
  const lines = [
    ...(isOld ? component('STANDARD', '19700101T000000', first.offset, first.offset) : []),
    ...series(changes).flatMap((each) => observance(each, last.year)),
  ]
  return ['BEGIN:VTIMEZONE', `TZID:${first.timeZoneId}`, ...lines, 'END:VTIMEZONE'].join('\r\n')
}

function changesFrom(begin: Temporal.ZonedDateTime | null, last: Temporal.ZonedDateTime): OffsetChange[] {
  const changes: OffsetChange[] = []
  for (let at = begin; at !== null && at.epochMilliseconds < last.epochMilliseconds; ) {
    const before = at.subtract({ nanoseconds: 1 })
    changes.push({
      wall: before.toPlainDateTime().add({ nanoseconds: 1 }),
      before: before.offset,
      after: at.offset,
      isForward: at.offsetNanoseconds > before.offsetNanoseconds,
      utc: at.withTimeZone('UTC').toPlainDateTime(),
    })
    at = at.getTimeZoneTransition('next')
  }
  return changes
}

/** Groups changes that occur in consecutive years by the same yearly rule. */
function series(changes: readonly OffsetChange[]): OffsetChange[][] {
  const groups: OffsetChange[][] = []
  for (const change of changes) {
    const group = groups.find((each) => ruleOf([...each, change]) !== undefined)
    if (group === undefined) groups.push([change])
    else group.push(change)
  }
  return groups
}

/** Returns the day of a yearly rule for changes, e.g. `BYMONTH=3;BYDAY=-1SU`; undefined: no rule fits. */
function ruleOf(changes: readonly OffsetChange[]): string | undefined {
  const [first] = changes
  if (first === undefined) return undefined
  const { wall, before, after } = first
  const fits = changes.every(
    (each, index) =>
      each.wall.year === wall.year + index &&
      each.wall.month === wall.month &&
      each.wall.dayOfWeek === wall.dayOfWeek &&
      each.wall.toPlainTime().equals(wall.toPlainTime()) &&
      each.before === before &&
      each.after === after,
  )
  const ordinals = new Set(changes.map(({ wall: { day } }) => Math.ceil(day / 7)))
  const isLast = changes.every(({ wall: { day, daysInMonth } }) => day + 7 > daysInMonth)
  if (!fits || (!isLast && ordinals.size > 1)) return undefined
  return `BYMONTH=${wall.month};BYDAY=${isLast ? -1 : [...ordinals].join('')}${weekdays[wall.dayOfWeek - 1] ?? ''}`
}

function observance(changes: readonly OffsetChange[], lastYear: number): string[] {
  const [first] = changes
  const final = changes.at(-1)
  if (first === undefined || final === undefined) return []
  const { wall, before, after, isForward } = first
  // A rule that no longer applies has an end; the current rule has none.
  const until = final.wall.year < lastYear - 1 ? `;UNTIL=${compact(final.utc)}Z` : ''
  const rule = changes.length === 1 ? undefined : `RRULE:FREQ=YEARLY;${ruleOf(changes) ?? ''}${until}`
  return component(isForward ? 'DAYLIGHT' : 'STANDARD', compact(wall), before, after, rule)
}

function component(
  name: 'STANDARD' | 'DAYLIGHT',
  start: string,
  before: string,
  after: string,
  rule?: string,
): string[] {
  return [
    `BEGIN:${name}`,
    `DTSTART:${start}`,
    `TZOFFSETFROM:${before.replaceAll(':', '')}`,
    `TZOFFSETTO:${after.replaceAll(':', '')}`,
    ...(rule === undefined ? [] : [rule]),
    `END:${name}`,
  ]
}

function compact(time: Temporal.PlainDateTime): string {
  return time.toString({ smallestUnit: 'second' }).replace(/[-:]/g, '')
}
