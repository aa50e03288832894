import { languageOf } from '../../../shared/languages.ts'

const minute = { hour: '2-digit', minute: '2-digit' } as const
const second = { ...minute, second: '2-digit' } as const
type DateFormats = ReturnType<typeof make>
const made = new Map<string, DateFormats>()

/**
 * Returns the formats of a language. Both pages show every day and time with them, so that each language has one
 * format.
 * @param language id of the language
 * @param zone IANA time zone; empty: the one of this device
 */
export function dateFormats(language: string, zone = ''): DateFormats {
  const key = `${language} ${zone}`
  const formats = made.get(key) ?? make(language, zone)
  made.set(key, formats)
  return formats
}

/** Makes the formats of a language and zone. Times are in milliseconds since the epoch. */
function make(language: string, zone: string) {
  const { tag, day } = languageOf(language)
  const { year: _, ...near } = day
  const kept = new Map<string, Intl.DateTimeFormat>()
  /** Formats are slow to make: each is made at its first use. */
  const formatOf = (options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat => {
    const key = JSON.stringify(options)
    const timeZone = zone === '' ? {} : { timeZone: zone }
    const format = kept.get(key) ?? new Intl.DateTimeFormat(tag, { hourCycle: 'h23', ...timeZone, ...options })
    kept.set(key, format)
    return format
  }
  const format = (options: Intl.DateTimeFormatOptions) => (at: number) => formatOf(options).format(at)
  const dayOf = format(day)
  const isSameDay = (one: number, other: number): boolean => dayOf(one) === dayOf(other)
  /** Includes the day of the end only if it differs from the day of the start. */
  const range = (options: Intl.DateTimeFormatOptions) => (from: number, to: number) => {
    const isSameMinute = Math.floor(from / 60_000) === Math.floor(to / 60_000)
    const begin = isSameMinute ? { ...options, ...second } : options
    const end = isSameMinute ? second : isSameDay(from, to) ? minute : options
    return `${formatOf(begin).format(from)} – ${formatOf(end).format(to)}`
  }
  return {
    /** 20 Nov 2026 */
    day: dayOf,
    /** Fri, 20 Nov 2026 */
    weekdayDay: (at: number, weekday: 'short' | 'long' = 'short') => format({ weekday, ...day })(at),
    /** Fri, 20 Nov: for lists of near days. */
    nearDay: format({ weekday: 'short', ...near }),
    /** 20 Nov: label of an axis. */
    axisDay: format(near),
    /** 14:05 */
    minute: format(minute),
    /** 14:05:09 */
    second: format(second),
    /** 14:05:09.123 */
    millisecond: format({ ...second, fractionalSecondDigits: 3 }),
    /** 20 Nov 2026, 14:05 */
    dayMinute: format({ ...day, ...minute }),
    /** 20 Nov 2026, 14:05:09 */
    daySecond: format({ ...day, ...second }),
    /** Fri, 20 Nov, 14:05 */
    nearDayMinute: format({ weekday: 'short', ...near, ...minute }),
    /** 14:05 – 15:00 */
    minuteRange: range(minute),
    /** 20 Nov 2026, 14:05 – 15:00; within one minute with seconds: 20 Nov 2026, 14:05:09 – 14:05:40 */
    dayMinuteRange: range({ ...day, ...minute }),
    /** Fri, 20 Nov, 14:05 – 15:00 */
    nearDayMinuteRange: range({ weekday: 'short', ...near, ...minute }),
    /** Friday */
    weekday: (at: number, weekday: 'short' | 'long' = 'long') => format({ weekday })(at),
    /** GMT+8, or China Standard Time */
    zoneName: (at: number, timeZoneName: 'short' | 'long' = 'short') =>
      formatOf({ hour: 'numeric', timeZoneName })
        .formatToParts(at)
        .find(({ type }) => type === 'timeZoneName')?.value ?? '',
    isSameDay,
  }
}
