/** A language of the console, the desktop shell and the room page. */
interface LanguageEntry {
  /** Primary subtag, by which the system's languages are compared. */
  id: string
  /** For documents, dates, numbers and lists. */
  tag: string
  /** In the language itself. */
  name: string
  /** Parts of a day, for Intl. */
  day: { day: 'numeric' | '2-digit'; month: 'numeric' | '2-digit' | 'short'; year: 'numeric' }
  /** The same day as its field in a form has it. */
  dayField: string
}

/** All languages. A new one is a line here; the type check then names the texts that it needs. */
export const languages = [
  {
    id: 'en',
    tag: 'en-GB',
    name: 'English',
    day: { day: 'numeric', month: 'short', year: 'numeric' },
    dayField: 'D MMM YYYY',
  },
  {
    id: 'zh',
    tag: 'zh-CN',
    name: '简体中文',
    day: { day: 'numeric', month: 'numeric', year: 'numeric' },
    dayField: 'YYYY/M/D',
  },
  {
    id: 'de',
    tag: 'de-DE',
    name: 'Deutsch',
    day: { day: '2-digit', month: '2-digit', year: 'numeric' },
    dayField: 'DD.MM.YYYY',
  },
] as const satisfies readonly LanguageEntry[]

/** Id of a language. */
export type Language = (typeof languages)[number]['id']

/** Languages that can be chosen: the system's, or one of the list. */
export const languageChoices = ['system', ...languages.map(({ id }) => id)] as const
export type LanguageChoice = (typeof languageChoices)[number]

/** Returns the entry of a language; English if there is none with this id. */
export function languageOf(id: string): (typeof languages)[number] {
  return languages.find((each) => each.id === id) ?? languages[0]
}

/** Checks whether a text is the id of a language. */
export function isLanguage(id: unknown): id is Language {
  return languages.some((each) => each.id === id)
}

/** Picks the first preferred language that has texts, else English. @param preferred language tags, e.g. `de-AT` */
export function preferredLanguage(preferred: readonly string[]): Language {
  return preferred.map((tag) => tag.toLowerCase().split('-')[0]).find(isLanguage) ?? 'en'
}
