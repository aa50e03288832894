import type { Texts } from './catalogue.ts'
import { en } from './en.ts'

/** A language of the page. */
interface PageLanguage {
  /** Primary subtag, by which the browser's languages are compared. */
  id: string
  /** For the document, and for dates, numbers and plurals. */
  tag: string
  /** In the language itself. */
  name: string
  load: () => Promise<Texts>
}

/** All languages of the page. A new one is a line here and a file of texts, which is loaded when it is chosen. */
export const languages: readonly PageLanguage[] = [
  { id: 'en', tag: 'en-GB', name: 'English', load: () => Promise.resolve(en) },
  { id: 'zh', tag: 'zh-CN', name: '简体中文', load: async () => (await import('./zh.ts')).zh },
  { id: 'de', tag: 'de-DE', name: 'Deutsch', load: async () => (await import('./de.ts')).de },
]

/** Finds a language by its id. */
export function languageOf(id: string): PageLanguage | undefined {
  return languages.find((each) => each.id === id)
}

/** The chosen language, else the browser's first one that the page has, else English. @returns its id */
export function firstLanguage(chosen: string, preferred: readonly string[]): string {
  if (languageOf(chosen) !== undefined) return chosen
  const primary = preferred.map((tag) => tag.toLowerCase().split('-')[0] ?? '')
  return primary.find((id) => languageOf(id) !== undefined) ?? 'en'
}
