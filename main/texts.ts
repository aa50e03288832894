import { type Language, type LanguageChoice, languageOf, preferredLanguage } from '../shared/languages.ts'
import { pluralForm } from '../shared/plural.ts'
import { fill } from '../shared/refusals/template.ts'
import de from '../texts/de/desktop.json' with { type: 'json' }
import en from '../texts/en/desktop.json' with { type: 'json' }
import zh from '../texts/zh/desktop.json' with { type: 'json' }

/** Texts of the shell in one language: menus, tray, dialogs, notifications. The page contains the console's own texts. */
export type Texts = typeof en & {
  /** Language tag. */
  tag: string
}

const catalogues: Record<Language, typeof en> = { en, zh, de }

/**
 * Returns the texts in the operator's language, or in the system's.
 * @param setting language setting of the console
 * @param locale locale of the system, e.g. `zh-CN`
 */
export function textsFor(setting: LanguageChoice, locale: string): Texts {
  const language = setting === 'system' ? preferredLanguage([locale]) : setting
  return { ...catalogues[language], tag: languageOf(language).tag }
}

/** Returns the text about the number of issues that need attention. */
export function attentionText({ attention, tag }: Texts, count: number): string {
  return fill(pluralForm(attention, tag, count), { n: count })
}
