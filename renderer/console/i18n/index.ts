import { createI18n } from 'vue-i18n'
import type { App } from 'vue'
import { en } from './en/index.ts'
import type { Catalogue, Language } from './text.ts'

/** vue-i18n for the console. English is part of the page; Chinese is loaded on demand. */
export const i18n = createI18n<[Catalogue], Language, false>({
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- it goes with version 12; until then it chooses the composition API
  legacy: false,
  locale: 'en',
  fallbackLocale: 'en',
  messages: { en } as Record<Language, Catalogue>,
})

/** Picks the language of this system: Chinese in any of its forms, else English. */
export function systemLanguage(preferred: readonly string[]): Language {
  return preferred
    .find((tag) => /^(zh|en)\b/i.test(tag))
    ?.toLowerCase()
    .startsWith('zh')
    ? 'zh'
    : 'en'
}

/** The language chosen last. */
let chosen: Language = 'en'

/** Shows the console in a language, and loads its texts if necessary. A later choice takes precedence. */
export async function showLanguage(language: Language): Promise<void> {
  chosen = language
  if (!i18n.global.availableLocales.includes(language)) {
    const { zh } = await import('./zh/index.ts')
    i18n.global.setLocaleMessage('zh', zh)
  }
  if (chosen !== language) return
  i18n.global.locale.value = language
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en'
}

export function installTexts(app: App): void {
  app.use(i18n)
}
