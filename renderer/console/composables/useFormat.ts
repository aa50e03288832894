import { computed } from 'vue'
import { useText } from '../i18n/text.ts'

const dayMs = 24 * 60 * 60_000

/** Formats numbers, times and sizes in the operator's language. Times are milliseconds since the epoch; 0 means never. */
export function useFormat() {
  const { t, language } = useText()
  const tag = computed(() => (language.value === 'zh' ? 'zh-CN' : 'en-GB'))
  const whole = computed(() => new Intl.NumberFormat(tag.value))
  const clockFormat = computed(
    () =>
      new Intl.DateTimeFormat(tag.value, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' }),
  )
  const minuteFormat = computed(
    () => new Intl.DateTimeFormat(tag.value, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
  )
  const dateFormat = computed(
    () =>
      new Intl.DateTimeFormat(tag.value, {
        year: 'numeric',
        month: language.value === 'zh' ? 'numeric' : 'short',
        day: 'numeric',
        hour: '2-digit',
        minute: '2-digit',
        hourCycle: 'h23',
        timeZoneName: 'short',
      }),
  )
  const dayFormat = computed(
    () =>
      new Intl.DateTimeFormat(tag.value, {
        year: 'numeric',
        month: language.value === 'zh' ? 'numeric' : 'short',
        day: 'numeric',
      }),
  )

  const monthDayFormat = computed(
    () => new Intl.DateTimeFormat(tag.value, { month: language.value === 'zh' ? 'numeric' : 'short', day: 'numeric' }),
  )
  const listFormat = computed(() => new Intl.ListFormat(tag.value, { type: 'conjunction' }))

  /** 1,234 */
  const number = (value: number): string => whole.value.format(value)
  /** 14:05:09 */
  const clock = (at: number): string => clockFormat.value.format(at)
  /** Time zone, e.g. "GMT+8", for the head of a column of times. */
  const zone = computed(
    () => dateFormat.value.formatToParts(0).find(({ type }) => type === 'timeZoneName')?.value ?? '',
  )
  /** 20 Nov 2026, 14:05 GMT+8 */
  const date = (at: number): string => (at === 0 ? t('words.never') : dateFormat.value.format(at))
  /** 20 Nov 2026, 14:05 – 15:00 GMT+8 */
  const period = (start: number, end: number): string => dateFormat.value.formatRange(start, end)
  /** 14:05 within the last day, earlier with the date. */
  const since = (at: number): string => (Date.now() - at < dayMs ? minuteFormat.value.format(at) : date(at))
  const day = (at: number): string => dayFormat.value.format(at)
  /** Mark of a time axis: 14:05, or 20 Nov on one of several days. */
  const axisTime = (at: number, length: number): string =>
    (length > 2 * dayMs ? monthDayFormat : minuteFormat).value.format(at)
  /** Time of a point on an axis, to the second or with its date. */
  const pointTime = (at: number, length: number): string => (length >= dayMs ? date(at) : clock(at))

  /** 45 s, 3 min, 2 h, 5 d */
  function span(milliseconds: number): string {
    const seconds = Math.max(0, Math.round(milliseconds / 1_000))
    if (seconds < 60) return t('time.seconds', { count: seconds })
    if (seconds < 3_600) return t('time.minutes', { count: Math.floor(seconds / 60) })
    if (seconds < 86_400) return t('time.hours', { count: Math.floor(seconds / 3_600) })
    return t('time.days', { count: Math.floor(seconds / 86_400) })
  }

  /** "just now", "3 min ago", or "never" */
  function ago(at: number, now: number): string {
    if (at === 0) return t('words.never')
    return now - at < 5_000 ? t('time.justNow') : t('time.ago', { span: span(now - at) })
  }

  /** 340 µs, 1.2 ms, 45 ms, 1.20 s */
  function latency(milliseconds: number): string {
    if (milliseconds >= 1_000) return `${(milliseconds / 1_000).toFixed(2)} s`
    return milliseconds >= 10 ? `${Math.round(milliseconds)} ms` : `${milliseconds.toFixed(1)} ms`
  }

  function size(bytes: number): string {
    const units = ['B', 'kB', 'MB', 'GB', 'TB']
    let value = bytes
    let unit = 0
    while (value >= 1_000 && unit < units.length - 1) {
      value /= 1_000
      unit++
    }
    return `${value.toFixed(unit === 0 || value >= 100 ? 0 : 1)} ${units[unit]}`
  }

  /** 640 kbit/s, 2.4 Mbit/s */
  function bitrate(bitsPerSecond: number): string {
    const units = ['kbit/s', 'Mbit/s', 'Gbit/s']
    let value = bitsPerSecond / 1_000
    let unit = 0
    while (value >= 1_000 && unit < units.length - 1) {
      value /= 1_000
      unit++
    }
    return `${value.toFixed(value >= 100 || Number.isInteger(value) ? 0 : 1)} ${units[unit]}`
  }

  /** A, B and C */
  const list = (items: readonly string[]): string => listFormat.value.format(items)

  return { axisTime, bitrate, pointTime, list, number, clock, zone, date, period, since, day, span, ago, latency, size }
}
