import { Temporal } from 'temporal-polyfill'

/** Returns the wall-clock time of a zone at an instant, as milliseconds since the epoch if the zone were UTC. */
export function wallOf(zone: string, instant: number): number {
  return (
    instant + Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(zone).offsetNanoseconds / 1_000_000
  )
}

/**
 * Returns the instant of a wall-clock time in a zone, as defined in RFC 5545 (section 3.3.5). For a time that occurs
 * twice, returns the first instant. A skipped time is interpreted with the offset before the change.
 * @param wall wall-clock time, as milliseconds since the epoch if the zone were UTC
 */
export function instantOf(zone: string, wall: number): number {
  return zonedOf(zone, wall).epochMilliseconds
}

/** Returns the zoned date and time of a wall-clock time. @param wall see `instantOf` */
export function zonedOf(zone: string, wall: number): Temporal.ZonedDateTime {
  const shown = Temporal.Instant.fromEpochMilliseconds(wall).toZonedDateTimeISO('UTC').toPlainDateTime()
  return shown.toZonedDateTime(zone, { disambiguation: 'compatible' })
}
