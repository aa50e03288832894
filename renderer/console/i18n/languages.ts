import elementEnglish from 'element-plus/es/locale/lang/en'
import type { Language as ElementTexts } from 'element-plus/es/locale'
import type discovery from '../../../texts/en/console/discovery.json'
import type readinessFindings from '../../../texts/en/console/readinessFindings.json'
import type welcome from '../../../texts/en/console/welcome.json'
import type { Language } from '../../../shared/languages.ts'
import { english } from './english.ts'
import type { Catalogue } from './text.ts'

/** Loaders of the texts of one language. */
interface LanguageTexts {
  load: () => Promise<Catalogue>
  /** Texts of Element Plus. */
  loadElement: () => Promise<ElementTexts>
}

/**
 * Merges the files of a language into its catalogue. The file name is the first part of the keys, except for
 * `common.json`. `npm run texts` checks that each language has the keys of English.
 */
function catalogueOf(files: Readonly<Record<string, Record<string, unknown>>>): Catalogue {
  const parts = Object.entries(files).map(([path, texts]) => {
    const name = path.slice(path.lastIndexOf('/') + 1, -'.json'.length)
    return name === 'common' ? texts : { [name]: texts }
  })
  return Object.assign({}, ...parts) as Catalogue
}

/** Texts of every language. English is part of the page, the others are loaded on demand. */
export const languageTexts: Record<Language, LanguageTexts> = {
  en: {
    load: async () => ({ ...english, ...(await import('./english-later.ts')).later }),
    loadElement: () => Promise.resolve(elementEnglish),
  },
  zh: {
    load: async () => catalogueOf((await import('./zh.ts')).zh),
    loadElement: async () => (await import('element-plus/es/locale/lang/zh-cn')).default,
  },
  de: {
    load: async () => catalogueOf((await import('./de.ts')).de),
    loadElement: async () => (await import('element-plus/es/locale/lang/de')).default,
  },
}

/** Texts that single pages load themselves, also in English, to keep the first load small. */
export interface PageTexts {
  /** Texts of the search for cameras. */
  discovery: typeof discovery
  /** Texts of the readiness findings. */
  readinessFindings: typeof readinessFindings
  /** Texts of the first run. */
  welcome: typeof welcome
}

const pageFiles = import.meta.glob('../../../texts/*/console/{discovery,readinessFindings,welcome}.json', {
  import: 'default',
})

/** Loads the texts of a page in a language. */
export async function loadPageTexts<Name extends keyof PageTexts>(
  language: Language,
  name: Name,
): Promise<PageTexts[Name]> {
  // The check of the catalogues ensures the keys.
  return (await pageFiles[`../../../texts/${language}/console/${name}.json`]?.()) as PageTexts[Name]
}
