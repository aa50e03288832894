import { computed, ref } from 'vue'
import { remember, remembered } from '../local/remembered.ts'
import type { Texts } from './catalogue.ts'
import { en } from './en.ts'
import { zh } from './zh.ts'

export type Language = 'en' | 'zh'

/** Values for the placeholders of a text. */
export type TextValues = Record<string, string | number>

const catalogues: Record<Language, Texts> = { en, zh }

/** The current language. */
export const language = ref<Language>(firstLanguage(remembered().language, navigator.languages))

/** Texts in the current language. */
export const texts = computed(() => catalogues[language.value])

/** Fills in the placeholders of a text. */
export function fill(text: string, values: TextValues): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))
}

/** Shows the page in a language, and stores it for later visits. */
export function chooseLanguage(choice: Language): void {
  language.value = choice
  remember({ language: choice })
  showLanguage()
}

/** Sets the document's language for fonts and screen readers. */
export function showLanguage(): void {
  document.documentElement.lang = language.value === 'zh' ? 'zh-CN' : 'en'
}

/** The stored language, else the browser's first one that the page supports, else English. */
export function firstLanguage(chosen: Language | '', preferred: readonly string[]): Language {
  if (chosen !== '') return chosen
  const first = preferred.find((tag) => /^(zh|en)\b/i.test(tag))
  return first?.toLowerCase().startsWith('zh') ? 'zh' : 'en'
}
