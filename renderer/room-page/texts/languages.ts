import { isLanguage, type Language, languages as shared, preferredLanguage } from '../../../shared/languages.ts'
import type { Texts } from './catalogue.ts'
import { en } from './en.ts'

/** Texts of every language of the page; each is loaded when it is chosen. */
const loaders: Record<Language, () => Promise<Texts>> = {
  en: () => Promise.resolve(en),
  zh: async () => (await import('./zh.ts')).zh,
  de: async () => (await import('./de.ts')).de,
}

/** All languages of the page, with their texts. */
export const languages = shared.map(({ id, tag, name }) => ({ id, tag, name, load: loaders[id] }))

/** Finds a language by its id. */
export function languageOf(id: string): (typeof languages)[number] | undefined {
  return languages.find((each) => each.id === id)
}

/** The chosen language, else the browser's first one that the page has, else English. @returns its id */
export function firstLanguage(chosen: string, preferred: readonly string[]): Language {
  return isLanguage(chosen) ? chosen : preferredLanguage(preferred)
}
