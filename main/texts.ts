import { type Language, type LanguageChoice, preferredLanguage } from '../shared/languages.ts'
import { de } from './texts/de.ts'
import { en, type Texts } from './texts/en.ts'
import { zh } from './texts/zh.ts'

const catalogues: Record<Language, Texts> = { en, zh, de }

/**
 * Returns the texts in the operator's language, or in the system's.
 * @param setting language setting of the console
 * @param locale locale of the system, e.g. `zh-CN`
 */
export function textsFor(setting: LanguageChoice, locale: string): Texts {
  return catalogues[setting === 'system' ? preferredLanguage([locale]) : setting]
}
