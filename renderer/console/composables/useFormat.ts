import { computed } from 'vue'
import { languageOf } from '../../../shared/languages.ts'
import { dateFormats } from '../../kit/time/date-formats.ts'
import { useText } from '../i18n/text.ts'

const dayMs = 24 * 60 * 60_000

/**
 * Formats numbers, times and sizes in the operator's language. Times are milliseconds since the epoch; 0 means never.
 */
export function useFormat() {
  const { t, language } = useText()
  const tag = computed(() => languageOf(language.value).tag)
  const whole = computed(() => new Intl.NumberFormat(tag.value))
  const dates = computed(() => dateFormats(language.value))
  const agoFormat = computed(() => new Intl.RelativeTimeFormat(tag.value, { style: 'short' }))
  const listFormat = computed(() => new Intl.ListFormat(tag.value, { type: 'conjunction' }))

  /** 1,234 */
  const number = (value: number): string => whole.value.format(value)
  /** 1,234.50 */
  const decimal = (value: number, digits: number): string =>
    value.toLocaleString(tag.value, { minimumFractionDigits: digits, maximumFractionDigits: digits })
  /** 12.5%, of a share between 0 and 1 */
  const percent = (share: number, maxDigits = 0): string =>
    share.toLocaleString(tag.value, { style: 'percent', maximumFractionDigits: maxDigits })
  /** 14:05:09 */
  const clock = (at: number): string => dates.value.second(at)
  /** 20 Nov 2026, 14:05:09 */
  const dateClock = (at: number): string => dates.value.daySecond(at)
  /** 14:05:09.123: distinguishes requests of one second. */
  const exactClock = (at: number): string => dates.value.millisecond(at)
  /** 20 Nov 2026 14:05:09.123 GMT+8 */
  const exactDate = (at: number): string => `${day(at)} ${exactClock(at)} ${zone(at)}`
  /** Time zone at a time, e.g. "GMT+8". */
  const zone = (at: number): string => dates.value.zoneName(at)
  /** 20 Nov 2026, 14:05 GMT+8. The zone is appended here, because Intl puts it between day and time in Chinese. */
  const date = (at: number): string => (at === 0 ? t('words.never') : `${dates.value.dayMinute(at)} ${zone(at)}`)
  /** 20 Nov 2026, 14:05; for lists whose head names the time zone */
  const dateMinute = (at: number): string => (at === 0 ? t('words.never') : dates.value.dayMinute(at))
  /** 20 Nov 2026, 14:05 – 15:00 GMT+8 */
  const period = (start: number, end: number): string => `${dates.value.dayMinuteRange(start, end)} ${zone(start)}`
  /** 14:05 within the last day; older times include the date. */
  const since = (at: number): string => (Date.now() - at < dayMs ? dates.value.minute(at) : date(at))
  /** 20 Nov 2026 */
  const day = (at: number): string => dates.value.day(at)
  /** Label of a time axis: 14:05, or 20 Nov on an axis of several days. */
  const axisTime = (at: number, length: number): string =>
    length > 2 * dayMs ? dates.value.axisDay(at) : dates.value.minute(at)
  /** Time of a point on an axis, with seconds or with its date. */
  const pointTime = (at: number, length: number): string => (length >= dayMs ? date(at) : clock(at))

  /** 45 s, 3 min, 2 h, 5 d */
  function span(milliseconds: number): string {
    const [count, unit] = inUnit(milliseconds)
    return t(`time.${unit}s`, { count: number(count) })
  }

  /** "just now", "3 min ago", or "never" */
  function ago(at: number, now: number): string {
    if (at === 0) return t('words.never')
    if (now - at < 5_000) return t('time.justNow')
    const [count, unit] = inUnit(now - at)
    return agoFormat.value.format(-count, unit)
  }

  /** "in 3 min" */
  function within(milliseconds: number): string {
    return agoFormat.value.format(...inUnit(milliseconds))
  }

  /** 340 µs, 1.2 ms, 45 ms, 1.20 s */
  function latency(milliseconds: number): string {
    if (milliseconds >= 1_000) return `${decimal(milliseconds / 1_000, 2)} s`
    return milliseconds >= 10 ? `${Math.round(milliseconds)} ms` : `${decimal(milliseconds, 1)} ms`
  }

  function size(bytes: number): string {
    const [value, unit] = scaled(bytes, ['B', 'kB', 'MB', 'GB', 'TB'])
    return `${decimal(value, unit === 'B' || value >= 100 ? 0 : 1)} ${unit}`
  }

  /** 640 kbit/s, 2.4 Mbit/s */
  function bitrate(bitsPerSecond: number): string {
    const [value, unit] = scaled(bitsPerSecond / 1_000, ['kbit/s', 'Mbit/s', 'Gbit/s'])
    return `${decimal(value, value >= 100 || Number.isInteger(value) ? 0 : 1)} ${unit}`
  }

  /** A, B and C */
  const list = (items: readonly string[]): string => listFormat.value.format(items)

  /** Compares names; numbers within them by value. */
  const compare = computed(() => new Intl.Collator(tag.value, { numeric: true, sensitivity: 'base' }).compare)

  return {
    ago,
    axisTime,
    bitrate,
    clock,
    compare,
    date,
    dateClock,
    dateMinute,
    day,
    decimal,
    exactClock,
    exactDate,
    latency,
    list,
    number,
    percent,
    period,
    pointTime,
    since,
    size,
    span,
    within,
    zone,
  }
}

/** Returns a duration as a number of the largest unit of which at least one fits. */
function inUnit(milliseconds: number): [number, 'second' | 'minute' | 'hour' | 'day'] {
  const seconds = Math.max(0, Math.round(milliseconds / 1_000))
  if (seconds < 60) return [seconds, 'second']
  if (seconds < 3_600) return [Math.floor(seconds / 60), 'minute']
  if (seconds < 86_400) return [Math.floor(seconds / 3_600), 'hour']
  return [Math.floor(seconds / 86_400), 'day']
}

/**
 * Returns a value in the smallest unit in which it is below 1,000, if there is one. Each unit is 1,000 times the
 * previous one.
 */
function scaled(value: number, [unit, ...larger]: readonly [string, ...string[]]): [number, string] {
  const [next, ...others] = larger
  return value < 1_000 || next === undefined ? [value, unit] : scaled(value / 1_000, [next, ...others])
}
