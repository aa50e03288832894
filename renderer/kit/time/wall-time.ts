/**
 * Returns the day and time of this device's clock at a moment, without fractions of a second, as `2026-11-20T14:05:09`.
 * @param at milliseconds since the epoch
 */
export function wallTimeOf(at: number): string {
  const date = new Date(at)
  return new Date(at - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}

/**
 * Returns the moment of a day and time of this device's clock, in milliseconds since the epoch; NaN: not a time.
 * @param near preferred result if the clock shows this time at `near`: at the end of summer time one hour occurs twice
 */
export function momentOf(wallTime: string, near?: number): number {
  return near !== undefined && wallTimeOf(near) === wallTime
    ? Math.floor(near / 1_000) * 1_000
    : new Date(wallTime).getTime()
}

/**
 * Reads a typed time of the day: `9`, `930`, `9:30`, `09.30`, `9：30`, and with seconds `9:30:15` or `093015`.
 * @returns `09:30`, with seconds if requested; undefined: not a time
 */
export function parseTime(text: string, withSeconds = false): string | undefined {
  const separated = /^\s*(\d{1,2})(?:\s*[:.：h]\s*(\d{1,2}))?(?:\s*[:.：]\s*(\d{1,2}))?\s*$/u.exec(text)
  const joined = /^\s*(\d{1,2})(\d\d)(\d\d)?\s*$/u.exec(text)
  const [, hours = '', minutes = '0', seconds = '0'] = separated ?? joined ?? []
  if (hours === '' || Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) return undefined
  const parts = withSeconds ? [hours, minutes, seconds] : [hours, minutes]
  return parts.map((part) => part.padStart(2, '0')).join(':')
}
