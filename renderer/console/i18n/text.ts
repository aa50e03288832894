import { computed } from 'vue'
import type { ComputedRef } from 'vue'
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

/** Texts without placeholders by language and key: a scrolling list reads the same texts hundreds of times a second. */
const plainTexts = new Map<string, Map<TextKey, string>>()

/** Texts in the language of the operator. */
export function useText(): { t: Translate; language: ComputedRef<Language> } {
  const { t: translate, locale } = useI18n({ useScope: 'global' })
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

  const t: Translate = (key, values) => {
    if (values === undefined) return plainText(key)
    return typeof values.n === 'number' ? translate(key, values, values.n) : translate(key, values)
  }
  return { t, language: computed(() => languageOf(locale.value).id) }
}
