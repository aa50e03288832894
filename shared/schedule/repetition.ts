/** Repetition of a meeting, with the parts of an RRULE (RFC 5545) that rooms support. */
export interface Repetition {
  frequency: 'DAILY' | 'WEEKLY' | 'MONTHLY'
  /** Interval n: every n-th day, week or month. */
  interval: number
  /** Weekdays of a week, or of a month with an ordinal: `TU`, `2TU`, `-1FR`; empty: the weekday of the start. */
  weekdays: readonly string[]
  /** Day of the month; -1: the last day; 0: the day of the start. */
  monthDay: number
  /** Last day in the zone of the schedule, e.g. `20270331`, or an instant, e.g. `20270331T080000Z`; empty: no end. */
  until: string
  /** Number of meetings; 0: no limit. */
  count: number
  /** First day of a week; relevant only if `interval` skips weeks. */
  weekStart: (typeof weekdays)[number]
}

export const weekdays = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'] as const
const frequencies = ['DAILY', 'WEEKLY', 'MONTHLY'] as const
export const maxInterval = 99
export const maxCount = 1_000

export const once: Repetition = {
  frequency: 'DAILY',
  interval: 1,
  weekdays: [],
  monthDay: 0,
  until: '',
  count: 0,
  weekStart: 'MO',
}

/** Names of the parts of an RRULE (RFC 5545, section 3.3.10). */
export const ruleParts = [
  ...['FREQ', 'INTERVAL', 'COUNT', 'UNTIL', 'WKST', 'BYDAY', 'BYMONTHDAY', 'BYSETPOS'],
  ...['BYMONTH', 'BYYEARDAY', 'BYWEEKNO', 'BYHOUR', 'BYMINUTE', 'BYSECOND'],
] as const
type RulePart = (typeof ruleParts)[number]
type Parts = Map<RulePart, string>

/**
 * Parses an RRULE, e.g. `FREQ=WEEKLY;BYDAY=TU,TH;UNTIL=20270331`. Also accepts equivalent forms of other calendars.
 * @returns undefined if it is malformed or contains an unsupported part
 */
export function parseRepetition(text: string): Repetition | undefined {
  const read = readRule(text)
  return typeof read === 'string' ? undefined : read
}

/**
 * Returns the invalid or unsupported part of an RRULE; `form`: the text is not an RRULE; undefined: it is supported.
 */
export function wrongPart(text: string): RulePart | 'form' | undefined {
  const read = readRule(text)
  return typeof read === 'string' ? read : undefined
}

function readRule(text: string): Repetition | RulePart | 'form' {
  const parts: Parts = new Map()
  // Names and values are case-insensitive. Some calendars end the rule with a semicolon, and pasted rules may contain
  // the prefix, spaces and folded lines.
  for (const part of text
    .replace(/\s/g, '')
    .toUpperCase()
    .replace(/^RRULE:/, '')
    .replace(/;$/, '')
    .split(';')) {
    const [given = '', value, more] = part.split('=')
    const name = ruleParts.find((each) => each === given)
    if (name === undefined || value === undefined || more !== undefined || parts.has(name)) return name ?? 'form'
    parts.set(name, value)
  }
  rewriteEqualForms(parts)
  const frequency = frequencies.find((each) => each === parts.get('FREQ'))
  if (frequency === undefined) return parts.get('FREQ') === 'YEARLY' ? (byPart(parts) ?? 'FREQ') : 'FREQ'
  parts.delete('FREQ')
  if (parts.has('UNTIL') && parts.has('COUNT')) return 'COUNT'
  const read: Repetition = { ...once, frequency }
  for (const [name, value] of parts) if (!readPart(read, name, value)) return name
  return read
}

/** Replaces parts that other calendars use by equivalent supported parts. */
function rewriteEqualForms(parts: Parts): void {
  const interval = wholeNumber(parts.get('INTERVAL') ?? '1')
  const frequency = parts.get('FREQ')
  if (frequency === 'DAILY' && interval === 1) {
    // "Every weekday" as exported by Outlook.
    if (parts.has('BYDAY')) parts.set('FREQ', 'WEEKLY')
    else if (parts.has('BYMONTHDAY')) parts.set('FREQ', 'MONTHLY')
  }
  if (frequency === 'YEARLY' && interval > 0 && byPart(parts) === undefined) {
    parts.set('FREQ', 'MONTHLY').set('INTERVAL', String(12 * interval))
  }
  // "The second Tuesday" as exported by Outlook.
  const [day = '', position = ''] = [parts.get('BYDAY'), parts.get('BYSETPOS')]
  if (parts.get('FREQ') === 'MONTHLY' && /^[A-Z]{2}$/.test(day) && position !== '') {
    parts.set('BYDAY', `${position}${day}`).delete('BYSETPOS')
  }
}

/** Returns the name of the first part that selects days or times; undefined: none. */
function byPart(parts: Parts): RulePart | undefined {
  return [...parts.keys()].find((name) => name.startsWith('BY'))
}

/** Reads one part of an RRULE into a repetition. Returns false if the part is invalid. */
function readPart(read: Repetition, name: RulePart, value: string): boolean {
  switch (name) {
    case 'INTERVAL':
      read.interval = wholeNumber(value)
      return read.interval >= 1 && read.interval <= maxInterval
    case 'COUNT':
      read.count = wholeNumber(value)
      return read.count >= 1 && read.count <= maxCount
    case 'UNTIL':
      // If `UNTIL` is the end of a day in the zone of the schedule, the day is stored.
      read.until = value.replace(/T235959$/, '')
      return isDay(value.slice(0, 8)) && /^\d{8}(T([01]\d|2[0-3])[0-5]\d[0-5]\dZ)?$/.test(read.until)
    case 'BYMONTHDAY':
      read.monthDay = value === '-1' ? -1 : wholeNumber(value)
      return read.frequency === 'MONTHLY' && read.monthDay !== 0 && read.monthDay <= 31
    case 'BYDAY':
      read.weekdays = value.split(',').map((day) => day.replace(/^\+/, ''))
      return read.weekdays.length <= 7 && read.weekdays.every((day) => fits(day, read.frequency))
    case 'WKST':
      read.weekStart = weekdays.find((each) => each === value) ?? once.weekStart
      return read.weekStart === value
    default:
      return false
  }
}

function fits(day: string, frequency: Repetition['frequency']): boolean {
  const ordinal = day.slice(0, -2)
  if (!weekdays.some((each) => each === day.slice(-2))) return false
  return frequency === 'MONTHLY' ? /^([1-4]|-1)$/.test(ordinal) : frequency === 'WEEKLY' && ordinal === ''
}

function wholeNumber(text: string): number {
  return /^\d{1,4}$/.test(text) ? Number(text) : 0
}

function isDay(digits: string): boolean {
  const iso = `${digits.slice(0, 4)}-${digits.slice(4, 6)}-${digits.slice(6, 8)}`
  return isWallTime(`${iso}T00:00`)
}

/** Returns the RRULE of a repetition, without the prefix `RRULE:`. */
export function repetitionText(repetition: Repetition): string {
  const { frequency, interval, weekdays: days, monthDay, until, count, weekStart } = repetition
  const parts = [`FREQ=${frequency}`]
  if (interval > 1) parts.push(`INTERVAL=${interval}`)
  if (days.length > 0) parts.push(`BYDAY=${days.join(',')}`)
  if (monthDay !== 0) parts.push(`BYMONTHDAY=${monthDay}`)
  // Monday is the default of RFC 5545.
  if (frequency === 'WEEKLY' && interval > 1 && days.length > 0 && weekStart !== 'MO') parts.push(`WKST=${weekStart}`)
  if (until !== '') parts.push(`UNTIL=${until}`)
  if (count > 0) parts.push(`COUNT=${count}`)
  return parts.join(';')
}

/** Whether a text is a valid date and time of day, e.g. `2026-11-25T09:00`, optionally with seconds. */
export function isWallTime(text: string): boolean {
  if (!/^20\d\d-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(text)) return false
  const at = Date.parse(`${text}Z`)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text)
}
