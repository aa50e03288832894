import { computed, ref } from 'vue'
import { remember, remembered } from '../local/remembered.ts'
import type { Texts } from './catalogue.ts'
import { en } from './en.ts'
import { zh } from './zh.ts'

export type Language = 'en' | 'zh'

/** Values that a text names in braces. */
export type TextValues = Record<string, string | number>

const catalogues: Record<Language, Texts> = { en, zh }

/** The language shown now. */
export const language = ref<Language>(firstLanguage(remembered().language, navigator.languages))

/** Every text in the language shown now. */
export const texts = computed(() => catalogues[language.value])

/** A text with its values filled in. */
export function fill(text: string, values: TextValues): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))
}

/** Shows the page in a language from now on, and in later visits. */
export function chooseLanguage(choice: Language): void {
  language.value = choice
  remember({ language: choice })
  showLanguage()
}

/** Tells the document its language: fonts and screen readers go by it. */
export function showLanguage(): void {
  document.documentElement.lang = language.value === 'zh' ? 'zh-CN' : 'en'
}

/** The remembered language, else the first of the browser's that the page speaks, else English. */
export function firstLanguage(chosen: Language | '', preferred: readonly string[]): Language {
  if (chosen !== '') return chosen
  const first = preferred.find((tag) => /^(zh|en)\b/i.test(tag))
  return first?.toLowerCase().startsWith('zh') ? 'zh' : 'en'
}
