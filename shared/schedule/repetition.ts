/** How often a meeting repeats: the part of RFC 5545 (RRULE) that rooms support. */
export interface Repetition {
  frequency: 'DAILY' | 'WEEKLY' | 'MONTHLY'
  /** Every n-th day, week or month. */
  interval: number
  /** Weekdays of a week, or of a month with their ordinal: `TU`, `2TU`, `-1FR`; empty: that of the start. */
  weekdays: readonly string[]
  /** Day of the month, -1 for the last one; 0: that of the start. */
  monthDay: number
  /** Last day, as `20270331` in the zone of the schedule, or an instant `20270331T080000Z`; empty: none. */
  until: string
  /** Number of meetings; 0: no limit. */
  count: number
}

export const weekdays = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'] as const
const frequencies = ['DAILY', 'WEEKLY', 'MONTHLY'] as const
/** Maximum of `interval` and `count`. */
export const maxInterval = 99
export const maxCount = 1_000

export const once: Repetition = {
  frequency: 'DAILY',
  interval: 1,
  weekdays: [],
  monthDay: 0,
  until: '',
  count: 0,
}

/** Reads an RRULE without its prefix, e.g. `FREQ=WEEKLY;BYDAY=TU,TH;UNTIL=20270331`; undefined if it is malformed or has an unsupported part. */
export function parseRepetition(text: string): Repetition | undefined {
  const parts = new Map<string, string>()
  for (const part of text.split(';')) {
    const [name = '', value, more] = part.split('=')
    if (value === undefined || more !== undefined || parts.has(name)) return undefined
    parts.set(name, value)
  }
  const frequency = frequencies.find((each) => each === parts.get('FREQ'))
  parts.delete('FREQ')
  if (frequency === undefined || (parts.has('UNTIL') && parts.has('COUNT'))) return undefined
  const read: Repetition = { ...once, frequency }
  for (const [name, value] of parts) if (!readPart(read, name, value)) return undefined
  return read
}

/** Puts one part into a repetition; false if it does not fit. */
function readPart(read: Repetition, name: string, value: string): boolean {
  switch (name) {
    case 'INTERVAL':
      read.interval = wholeNumber(value)
      return read.interval >= 1 && read.interval <= maxInterval
    case 'COUNT':
      read.count = wholeNumber(value)
      return read.count >= 1 && read.count <= maxCount
    case 'UNTIL':
      read.until = value
      return isDay(value.slice(0, 8)) && /^\d{8}(T([01]\d|2[0-3])[0-5]\d[0-5]\dZ)?$/.test(value)
    case 'BYMONTHDAY':
      read.monthDay = value === '-1' ? -1 : wholeNumber(value)
      return read.frequency === 'MONTHLY' && read.monthDay !== 0 && read.monthDay <= 31
    case 'BYDAY':
      read.weekdays = value.split(',')
      return read.weekdays.length <= 7 && read.weekdays.every((day) => fits(day, read.frequency))
    // The week begins on Monday, which is the default of RFC 5545.
    case 'WKST':
      return value === 'MO'
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

/** Writes an RRULE without its prefix. */
export function repetitionText({ frequency, interval, weekdays: days, monthDay, until, count }: Repetition): string {
  const parts = [`FREQ=${frequency}`]
  if (interval > 1) parts.push(`INTERVAL=${interval}`)
  if (days.length > 0) parts.push(`BYDAY=${days.join(',')}`)
  if (monthDay !== 0) parts.push(`BYMONTHDAY=${monthDay}`)
  if (until !== '') parts.push(`UNTIL=${until}`)
  if (count > 0) parts.push(`COUNT=${count}`)
  return parts.join(';')
}

/** Whether a text is a time that a calendar and a clock can show, as `2026-11-25T09:00` or with seconds. */
export function isWallTime(text: string): boolean {
  if (!/^20\d\d-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(text)) return false
  const at = Date.parse(`${text}Z`)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text)
}
