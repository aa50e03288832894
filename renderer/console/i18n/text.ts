import { computed, type ComputedRef, type Ref } from 'vue'
import { useI18n } from 'vue-i18n'
import { type Language, languageOf } from '../../../shared/languages.ts'
import type { english } from './english.ts'
import type { later } from './english-later.ts'

/** Texts of a language, with the keys of English. */
export type Catalogue = typeof english & typeof later

type Path<T> = {
  [K in keyof T & string]: T[K] extends string ? K : `${K}.${Path<T[K]>}`
}[keyof T & string]

/** Dotted key of a text. */
export type TextKey = Path<Catalogue>

/** Key of a text of the first load, available to every part of the console. */
export type FirstTextKey = Path<typeof english>

/**
 * Values for the placeholders of a text. `n` selects the plural form and must be a number: a formatted number would
 * select the singular.
 */
type TextValues = Record<string, string | number> & { n?: number }

export type Translate = (key: TextKey, values?: TextValues) => string

/** The function of vue-i18n that translates. */
interface LibraryTranslate {
  (key: TextKey): string
  // eslint-disable-next-line @typescript-eslint/unified-signatures -- the library has an overload for each number of parameters
  (key: TextKey, values: TextValues): string
  // eslint-disable-next-line @typescript-eslint/unified-signatures -- as above
  (key: TextKey, values: TextValues, n: number): string
}

/** Texts without placeholders by language and key: a scrolling list reads the same texts hundreds of times a second. */
const plainTexts = new Map<string, Map<TextKey, string>>()

declare module 'vue' {
  interface ComponentCustomProperties {
    /** Every template has the texts; a script takes them from `useText`. */
    t: Translate
  }
}

/** Translates to the language that `locale` names. */
export function translateWith(translate: LibraryTranslate, locale: Readonly<Ref<string>>): Translate {
  /** Caches available texts; those that are not in the first load may still be loading. */
  function plainText(key: TextKey): string {
    let known = plainTexts.get(locale.value)
    if (known === undefined) plainTexts.set(locale.value, (known = new Map()))
    let text = known.get(key)
    if (text === undefined) {
      text = translate(key)
      if (text !== key) known.set(key, text)
    }
    return text
  }

  return (key, values) => {
    if (values === undefined) return plainText(key)
    return typeof values.n === 'number' ? translate(key, values, values.n) : translate(key, values)
  }
}

/** Texts in the language of the operator. */
export function useText(): { t: Translate; language: ComputedRef<Language> } {
  const { t, locale } = useI18n({ useScope: 'global' })
  return { t: translateWith(t, locale), language: computed(() => languageOf(locale.value).id) }
}
