import dayjs from 'dayjs'
import { languageOf } from '../../../shared/languages.ts'
import { calendarNames } from './calendar.ts'

/** Shows a day of a form, `2026-11-20`, in the format of a language. */
export function shownDay(day: string, language: string): string {
  const { id, dayField } = languageOf(language)
  return day === '' ? '' : dayjs(day).locale(calendarNames[id]).format(dayField)
}

/**
 * Reads a typed day in the order of a language, with or without leading zeros: 5.12.2026, 5/12/26, 5 Dec 2026. A year of
 * four digits may also come first. dayjs would read a text of another form as the browser does: month first.
 * @returns the day as `2026-11-20`; undefined: the text is not a complete day, or there is no such day
 */
export function typedDay(text: string, language: string): string | undefined {
  const { id, dayField } = languageOf(language)
  const parts = text.match(/\d+|\p{L}{3,}/gu) ?? []
  const [first = ''] = parts
  const order = first.length === 4 ? 'YMD' : dayField.replace(/[^DMY]/g, '').replace(/(.)\1+/g, '$1')
  const part = (letter: string): string => parts[order.indexOf(letter)] ?? ''
  const monthNames = dayjs.Ls[calendarNames[id]]?.monthsShort ?? []
  const named = monthNames.findIndex((name) => part('M').toLowerCase().startsWith(name.toLowerCase().replace('.', '')))
  const month = /^\d/.test(part('M')) ? Number(part('M')) : named + 1
  const year = Number(part('Y')) + (part('Y').length === 2 ? 2000 : 0)
  const date = new Date(Date.UTC(year, month - 1, Number(part('D'))))
  const isDay = parts.length === 3 && year >= 1970 && year <= 9999 && month > 0 && date.getUTCMonth() === month - 1
  return isDay && date.getUTCFullYear() === year ? date.toISOString().slice(0, 10) : undefined
}
