import { computed, ref, shallowRef } from 'vue'
import { isLanguage, type Language, languageOf, preferredLanguage } from '../../../shared/languages.ts'
import { pluralForm } from '../../../shared/plural.ts'
import english from '../../../texts/en/room-page.json'
import { remember, remembered } from '../local/remembered.ts'

/** Texts of the page, with the keys of English. */
export type Texts = typeof english

/** English is part of the page; the texts of the other languages are loaded when they are chosen. */
const files = import.meta.glob<Texts>(['../../../texts/*/room-page.json', '!../../../texts/en/*'], {
  import: 'default',
})

/** Values for the placeholders of a text. */
export type TextValues = Record<string, string | number>

const catalogue = shallowRef<Texts>(english)
/** Id of the current language. */
export const language = ref('en')

/** Texts in the current language. */
export const texts = computed(() => catalogue.value)
/** Tag of the current language, for Intl. */
export const languageTag = computed(() => languageOf(language.value).tag)
const list = computed(() => new Intl.ListFormat(languageTag.value, { type: 'conjunction' }))

/** Fills in the placeholders of a text. */
export function fill(text: string, values: TextValues): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))
}

/** Chooses the plural form for a count, and fills in the placeholders and the count, `{n}`. */
export function plural(text: string, count: number, values: TextValues = {}): string {
  return fill(pluralForm(text, languageTag.value, count), { n: number(count), ...values })
}

/** Formats a number in the current language. @param digits number of decimals */
export function number(value: number, digits = 0): string {
  return value.toLocaleString(languageTag.value, { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

/** Joins names in the current language: "Ann, Bo and Cy". */
export function listed(names: readonly string[]): string {
  return list.value.format(names)
}

/** Returns the id of the chosen language, else of the browser's first one that the page has, else of English. */
export function firstLanguage(chosen: string, preferred: readonly string[]): Language {
  return isLanguage(chosen) ? chosen : preferredLanguage(preferred)
}

/** Shows the page for the first time, in the stored language or the browser's. */
export async function beginLanguage(): Promise<void> {
  await show(firstLanguage(remembered().language, navigator.languages))
}

/** Shows the page in a language, and stores it for later visits. */
export async function chooseLanguage(id: string): Promise<void> {
  remember({ language: id })
  await show(id)
}

/** Switches the page to a language. Keeps the current one if the texts cannot be loaded. */
async function show(id: string): Promise<void> {
  const load = isLanguage(id)
    ? (files[`../../../texts/${id}/room-page.json`] ?? (() => Promise.resolve(english)))
    : undefined
  const found = await load?.().catch(() => undefined)
  if (found !== undefined) {
    catalogue.value = found
    language.value = id
  }
  // For fonts and screen readers.
  document.documentElement.lang = languageTag.value
}
