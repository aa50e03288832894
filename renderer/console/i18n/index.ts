import { createI18n } from 'vue-i18n'
import type { App } from 'vue'
import { type Language, languageOf, languages } from '../../../shared/languages.ts'
import { pluralIndex } from '../../../shared/plural.ts'
import { english } from './english.ts'
import { languageTexts } from './languages.ts'
import { type Catalogue, translateWith } from './text.ts'

/** vue-i18n for the console. English is part of the page; every other language is loaded when it is chosen. */
export const i18n = createI18n<[Catalogue], Language, false>({
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- until version 12 it selects the composition API
  legacy: false,
  locale: 'en',
  fallbackLocale: 'en',
  pluralRules: Object.fromEntries(
    languages.map(({ id, tag }) => [id, (count: number, forms: number) => pluralIndex(tag, count, forms)]),
  ),
  messages: { en: english } as Record<Language, Partial<Catalogue>> as Record<Language, Catalogue>,
})

/** The language chosen last. */
let chosen: Language = 'en'
/** Whether an open page shows texts that are not in the first load. */
let needsLater = false

/** Shows the console in a language, and loads its texts if necessary. The latest choice takes precedence. */
export async function showLanguage(language: Language): Promise<void> {
  chosen = language
  if (!i18n.global.availableLocales.includes(language)) {
    i18n.global.setLocaleMessage(language, await languageTexts[language].load())
  }
  if (needsLater) await addLaterTexts()
  if (chosen !== language) return
  i18n.global.locale.value = language
  document.documentElement.lang = languageOf(language).tag
}

let added: Promise<void> | undefined

/**
 * Adds the English texts that are not in the first load, before they are shown. Repeated after a failure. Other
 * languages are loaded completely.
 */
export async function addLaterTexts(): Promise<void> {
  needsLater = true
  if (chosen !== 'en') return
  added ??= languageTexts.en.load().then((texts) => i18n.global.setLocaleMessage('en', texts))
  await added.catch((error: unknown) => {
    added = undefined
    throw error
  })
}

/** Returns a loader of a page or dialog that also loads the texts that are not in the first load. */
export function withLaterTexts<T>(load: () => Promise<T>): () => Promise<T> {
  return async () => {
    const [loaded] = await Promise.all([load(), addLaterTexts()])
    return loaded
  }
}

export function installTexts(app: App): void {
  app.use(i18n)
  app.config.globalProperties.t = translateWith(i18n.global.t, i18n.global.locale)
}
