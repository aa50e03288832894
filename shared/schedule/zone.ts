/** Whether a text is the name of an IANA time zone. */
export function isZone(zone: string): boolean {
  try {
    // Offsets such as +01:00 are rejected, because they do not follow daylight saving time.
    return /^[A-Za-z]/.test(zone) && new Intl.DateTimeFormat('en', { timeZone: zone }) !== undefined
  } catch {
    // The runtime does not support this zone.
    return false
  }
}
