import elementEnglish from 'element-plus/es/locale/lang/en'
import type { Language as ElementTexts } from 'element-plus/es/locale'
import type { Language } from '../../../shared/languages.ts'
import { en } from './en/index.ts'
import type { Catalogue } from './text.ts'

/** Loaders of the texts of one language. */
interface LanguageTexts {
  load: () => Promise<Catalogue>
  /** Texts of Element Plus. */
  loadElement: () => Promise<ElementTexts>
}

/** Texts of every language. English is part of the page, the others are loaded on demand. */
export const languageTexts: Record<Language, LanguageTexts> = {
  en: { load: () => Promise.resolve(en), loadElement: () => Promise.resolve(elementEnglish) },
  zh: {
    load: async () => (await import('./zh/index.ts')).zh,
    loadElement: async () => (await import('element-plus/es/locale/lang/zh-cn')).default,
  },
  de: {
    load: async () => (await import('./de/index.ts')).de,
    loadElement: async () => (await import('element-plus/es/locale/lang/de')).default,
  },
}
