/** Language of the console, the desktop shell and the room page. */
interface LanguageEntry {
  /** Primary language subtag, compared with the system's languages. */
  id: string
  /** Language tag for documents, dates, numbers and lists. */
  tag: string
  /** Name in the language itself. */
  name: string
  /** Format of a day, for Intl. */
  day: { day: 'numeric' | '2-digit'; month: 'numeric' | '2-digit' | 'short'; year: 'numeric' }
  /** Format of a day in form fields. */
  dayField: string
}

/** All languages. After a language is added here, the type check reports the missing texts. */
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

export type Language = (typeof languages)[number]['id']

/** Values of the language setting: the system's language, or one of the list. */
export const languageChoices = ['system', ...languages.map(({ id }) => id)] as const
export type LanguageChoice = (typeof languageChoices)[number]

/** Returns the entry of a language; English if the id is unknown. */
export function languageOf(id: string): (typeof languages)[number] {
  return languages.find((each) => each.id === id) ?? languages[0]
}

/** Checks whether a text is the id of a language. */
export function isLanguage(id: unknown): id is Language {
  return languages.some((each) => each.id === id)
}

/**
 * Returns the first preferred language that has texts; English if none has.
 * @param preferred language tags, e.g. `de-AT`
 */
export function preferredLanguage(preferred: readonly string[]): Language {
  return preferred.map((tag) => tag.toLowerCase().split('-')[0]).find(isLanguage) ?? 'en'
}
