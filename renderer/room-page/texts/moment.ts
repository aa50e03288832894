import { dateFormats } from '../../kit/time/date-formats.ts'
import { language, languageTag } from './texts.ts'

/** A moment in words of the current language, in the time zone of this device. */
export interface MomentWords {
  /** Time of the day, e.g. "09:00". */
  time: string
  /** Day, e.g. "Tuesday 1 Dec 2026"; empty: today. */
  day: string
  /** Name of the time zone, e.g. "Central European Standard Time". */
  zone: string
}

/** Returns a moment in words. @param at milliseconds since the epoch */
export function momentWords(at: number, now: number): MomentWords {
  const { isSameDay, minute, weekdayDay, zoneName } = dateFormats(language.value)
  return { time: minute(at), day: isSameDay(at, now) ? '' : weekdayDay(at, 'long'), zone: zoneName(at, 'long') }
}

/** Returns a remaining time in its one or two largest units, e.g. "2 hours, 5 minutes". */
export function durationWords(milliseconds: number): string {
  const seconds = Math.max(1, Math.ceil(milliseconds / 1_000))
  const days = Math.floor(seconds / 86_400)
  const hours = Math.floor((seconds % 86_400) / 3_600)
  const minutes = Math.floor((seconds % 3_600) / 60)
  const units = [
    ['day', days],
    ['hour', hours],
    ['minute', minutes],
    ['second', seconds % 60],
  ] as const
  const first = units.findIndex(([, count]) => count > 0)
  const shown = units.slice(first, first + 2).filter(([, count]) => count > 0)
  const written = shown.map(([unit, count]) =>
    count.toLocaleString(languageTag.value, { style: 'unit', unit, unitDisplay: 'long' }),
  )
  return new Intl.ListFormat(languageTag.value, { type: 'unit', style: 'narrow' }).format(written)
}
