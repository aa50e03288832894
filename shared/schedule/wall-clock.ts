/** Formats by zone: each is costly to make, and there are some hundred zones. */
const formats = new Map<string, Intl.DateTimeFormat>()
const dayMs = 24 * 60 * 60_000

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    formats.set(zone, format)
  }
  return format
}

/** Time that the clocks of a zone show at an instant, as milliseconds of a UTC clock that shows the same. */
export function wallOf(zone: string, instant: number): number {
  const fields: Record<string, number> = {}
  for (const { type, value } of formatOf(zone).formatToParts(instant)) fields[type] = Number(value)
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = fields
  const milliseconds = ((instant % 1_000) + 1_000) % 1_000
  return Date.UTC(year, month - 1, day, hour, minute, second) + milliseconds
}

/**
 * Instant at which the clocks of a zone show a time, as RFC 5545 (3.3.5) has it: of a time that they show twice the first one; a time that
 * they skip is read with the offset from before.
 */
export function instantOf(zone: string, wall: number): number {
  const before = wall - offsetAt(zone, wall - dayMs)
  if (wallOf(zone, before) === wall) return before
  const after = wall - offsetAt(zone, wall + dayMs)
  return wallOf(zone, after) === wall ? after : before
}

function offsetAt(zone: string, instant: number): number {
  return wallOf(zone, instant) - instant
}

/** Tells whether a text names an IANA time zone. */
export function isZone(zone: string): boolean {
  try {
    // Offsets as +01:00 are no zones: they know no daylight saving.
    return /^[A-Za-z]/.test(zone) && new Intl.DateTimeFormat('en', { timeZone: zone }) !== undefined
  } catch {
    // The runtime knows no such zone.
    return false
  }
}
