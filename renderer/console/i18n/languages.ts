import elementEnglish from 'element-plus/es/locale/lang/en'
import type { Language as ElementTexts } from 'element-plus/es/locale'
import type { findingTexts } from '../../../shared/console/readiness-findings.ts'
import type { Language } from '../../../shared/languages.ts'
import { en } from './en/index.ts'
import type { discovery } from './en/discovery.ts'
import type { welcome } from './en/welcome.ts'
import type { Catalogue, Texts } from './text.ts'

/** Sentences of the findings of readiness checks. */
type FindingTexts = Texts<typeof findingTexts>

/** Texts of the search for cameras. */
export type DiscoveryTexts = Texts<typeof discovery>

/** Texts of the first run. */
export type WelcomeTexts = Texts<typeof welcome>

/** Loaders of the texts of one language. */
export interface LanguageTexts {
  load: () => Promise<Catalogue>
  /** Texts of Element Plus. */
  loadElement: () => Promise<ElementTexts>
  /** Texts that only the readiness page needs, also in English: the first load waits for none of them. */
  loadFindings: () => Promise<FindingTexts>
  /** Texts that only the first run needs, likewise. */
  loadWelcome: () => Promise<WelcomeTexts>
  /** Texts that only a search for cameras needs, likewise. */
  loadDiscovery: () => Promise<DiscoveryTexts>
}

/** Texts of every language. English is part of the page, the others are loaded on demand. */
export const languageTexts: Record<Language, LanguageTexts> = {
  en: {
    load: async () => ({ ...en, ...(await import('./en/later.ts')).later }),
    loadElement: () => Promise.resolve(elementEnglish),
    loadFindings: async () => (await import('../../../shared/console/readiness-findings.ts')).findingTexts,
    loadWelcome: async () => (await import('./en/welcome.ts')).welcome,
    loadDiscovery: async () => (await import('./en/discovery.ts')).discovery,
  },
  zh: {
    load: async () => (await import('./zh/index.ts')).zh,
    loadElement: async () => (await import('element-plus/es/locale/lang/zh-cn')).default,
    loadFindings: async () => (await import('./zh/readiness-findings.ts')).readinessFindings,
    loadWelcome: async () => (await import('./zh/welcome.ts')).welcome,
    loadDiscovery: async () => (await import('./zh/discovery.ts')).discovery,
  },
  de: {
    load: async () => (await import('./de/index.ts')).de,
    loadElement: async () => (await import('element-plus/es/locale/lang/de')).default,
    loadFindings: async () => (await import('./de/readiness-findings.ts')).readinessFindings,
    loadWelcome: async () => (await import('./de/welcome.ts')).welcome,
    loadDiscovery: async () => (await import('./de/discovery.ts')).discovery,
  },
}
