import { computed } from 'vue'
import type { ComputedRef } from 'vue'
import { useI18n } from 'vue-i18n'
import { type Language, languageOf } from '../../../shared/languages.ts'
import type { en } from './en/index.ts'

/** A catalogue with the keys of the English one. A missing or additional key fails the type check. */
export type Texts<T> = { [K in keyof T]: T[K] extends string ? string : Texts<T[K]> }
export type Catalogue = Texts<typeof en>

type Path<T> = {
  [K in keyof T & string]: T[K] extends string ? K : `${K}.${Path<T[K]>}`
}[keyof T & string]

/** The dotted name of a text. */
export type TextKey = Path<typeof en>

/** Values for the placeholders of a text. `n` selects the plural form. */
type TextValues = Record<string, string | number>

export type Translate = (key: TextKey, values?: TextValues) => string

/** Texts in the language of the operator. */
export function useText(): { t: Translate; language: ComputedRef<Language> } {
  const { t: translate, locale } = useI18n({ useScope: 'global' })
  const t: Translate = (key, values) => {
    if (values === undefined) return translate(key)
    return typeof values.n === 'number' ? translate(key, values, values.n) : translate(key, values)
  }
  return { t, language: computed(() => languageOf(locale.value).id) }
}
