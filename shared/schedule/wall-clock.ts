import { Temporal } from 'temporal-polyfill'

/** Returns the time that the clocks of a zone show at an instant, as milliseconds of a UTC clock that shows the same. */
export function wallOf(zone: string, instant: number): number {
  return (
    instant + Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(zone).offsetNanoseconds / 1_000_000
  )
}

/**
 * Returns the instant at which the clocks of a zone show a time, as RFC 5545 (section 3.3.5) defines it: the first one of a repeated time; a skipped time is read with the offset
 * before the change.
 * @param wall milliseconds of a UTC clock that shows the time
 */
export function instantOf(zone: string, wall: number): number {
  return zonedOf(zone, wall).epochMilliseconds
}

/** Returns the instant of a wall time with its zone. @param wall milliseconds of a UTC clock that shows the time */
export function zonedOf(zone: string, wall: number): Temporal.ZonedDateTime {
  const shown = Temporal.Instant.fromEpochMilliseconds(wall).toZonedDateTimeISO('UTC').toPlainDateTime()
  return shown.toZonedDateTime(zone, { disambiguation: 'compatible' })
}
