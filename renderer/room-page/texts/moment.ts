import { dateFormats } from '../../kit/time/date-formats.ts'
import type { Opening } from '../session/ending.ts'
import { fill, language, languageTag, texts } from './texts.ts'

/**
 * Returns a moment in words of the current language, in the time zone of this device.
 * @param at milliseconds since the epoch
 * @returns `day` is empty for today
 */
export function momentWords(at: number, now: number) {
  const { isSameDay, minute, weekdayDay, zoneName } = dateFormats(language.value)
  return { time: minute(at), day: isSameDay(at, now) ? '' : weekdayDay(at, 'long'), zone: zoneName(at, 'long') }
}

/**
 * Describes the start of a meeting, and the opening of its room.
 * @param words texts of the opening, without and with its day
 */
export function openingWords(
  { startsAt, opensAt }: Opening,
  now: number,
  words: { opensAt: string; opensOn: string },
): { title: string; body: string } {
  const { waiting } = texts.value
  const [starts, opens] = [momentWords(startsAt, now), momentWords(opensAt, now)]
  return {
    title: fill(starts.day ? waiting.startsOn : waiting.starts, starts),
    body: fill(opens.day ? words.opensOn : words.opensAt, opens),
  }
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
