import { languageOf } from '../../../shared/languages.ts'

/** Formats of days and times in one language and time zone. Times are in milliseconds since the epoch. */
export interface DateFormats {
  /** 20 Nov 2026 */
  day: (at: number) => string
  /** Fri, 20 Nov 2026 */
  weekdayDay: (at: number, width?: 'short' | 'long') => string
  /** Fri, 20 Nov: for lists of near days. */
  nearDay: (at: number) => string
  /** 20 Nov: label of an axis. */
  axisDay: (at: number) => string
  /** 14:05 */
  minute: (at: number) => string
  /** 14:05:09 */
  second: (at: number) => string
  /** 14:05:09.123 */
  millisecond: (at: number) => string
  /** 20 Nov 2026, 14:05 */
  dayMinute: (at: number) => string
  /** 20 Nov 2026, 14:05:09 */
  daySecond: (at: number) => string
  /** Fri, 20 Nov, 14:05 */
  nearDayMinute: (at: number) => string
  /** 14:05 – 15:00 */
  minuteRange: (from: number, to: number) => string
  /** 20 Nov 2026, 14:05 – 15:00; within one minute with seconds: 20 Nov 2026, 14:05:09 – 14:05:40 */
  dayMinuteRange: (from: number, to: number) => string
  /** Fri, 20 Nov, 14:05 – 15:00 */
  nearDayMinuteRange: (from: number, to: number) => string
  /** Friday */
  weekday: (at: number, width?: 'short' | 'long') => string
  /** GMT+8, or China Standard Time */
  zoneName: (at: number, width?: 'short' | 'long') => string
  /** Checks whether two times are on one day. */
  isSameDay: (one: number, other: number) => boolean
}

const minute = { hour: '2-digit', minute: '2-digit' } as const
const second = { ...minute, second: '2-digit' } as const
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

function make(language: string, zone: string): DateFormats {
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
    day: dayOf,
    weekdayDay: (at, weekday = 'short') => format({ weekday, ...day })(at),
    nearDay: format({ weekday: 'short', ...near }),
    axisDay: format(near),
    minute: format(minute),
    second: format(second),
    millisecond: format({ ...second, fractionalSecondDigits: 3 }),
    dayMinute: format({ ...day, ...minute }),
    daySecond: format({ ...day, ...second }),
    nearDayMinute: format({ weekday: 'short', ...near, ...minute }),
    minuteRange: range(minute),
    dayMinuteRange: range({ ...day, ...minute }),
    nearDayMinuteRange: range({ weekday: 'short', ...near, ...minute }),
    weekday: (at, weekday = 'long') => format({ weekday })(at),
    zoneName: (at, timeZoneName = 'short') =>
      formatOf({ hour: 'numeric', timeZoneName })
        .formatToParts(at)
        .find(({ type }) => type === 'timeZoneName')?.value ?? '',
    isSameDay,
  }
}
