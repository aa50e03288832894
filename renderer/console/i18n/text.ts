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

/** The dotted name of a text. */
export type TextKey = Path<Catalogue>

/** A text of the first load, which every part of the console can show. */
export type FirstTextKey = Path<typeof english>

/** Values for the placeholders of a text. `n` selects the plural form: a number that was written out would select the singular. */
type TextValues = Record<string, string | number> & { n?: number }

export type Translate = (key: TextKey, values?: TextValues) => string

/** Texts without placeholders by key, for each language: a list that scrolls asks for the same ones hundreds of times a second. */
const plainTexts = new Map<string, Map<TextKey, string>>()

/** Texts in the language of the operator. */
export function useText(): { t: Translate; language: ComputedRef<Language> } {
  const { t: translate, locale } = useI18n({ useScope: 'global' })
  /** Texts that are there stay; those that the first load leaves out may be on their way. */
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
