import dayjs from 'dayjs'
import { languages } from '../../../shared/languages.ts'

/** Element Plus's names of the languages, by which it finds their calendars in dayjs. */
export const calendarNames = { en: 'en', zh: 'zh-cn', de: 'de' } as const
const months = Array.from({ length: 12 }, (_, month) => Date.UTC(2026, month, 1))

// Weeks begin on Monday in all of these languages; months are abbreviated as on the pages.
for (const { id, tag } of languages) {
  const month = new Intl.DateTimeFormat(tag, { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })
  const nameOf = (at: number): string => month.formatToParts(at).find(({ type }) => type === 'month')?.value ?? ''
  const parts = { name: calendarNames[id], weekStart: 1, monthsShort: months.map(nameOf) }
  if (dayjs.Ls.en) dayjs.locale({ ...dayjs.Ls.en, ...parts }, undefined, true)
}
