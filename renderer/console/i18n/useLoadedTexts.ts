import { type ShallowRef, shallowRef, watch } from 'vue'
import { languageTexts, type LanguageTexts } from './languages.ts'
import { useText } from './text.ts'

/** Texts that one page loads for itself, in the operator's language; undefined until they are loaded. */
export function useLoadedTexts<T>(load: (texts: LanguageTexts) => Promise<T>): Readonly<ShallowRef<T | undefined>> {
  const { language } = useText()
  const texts = shallowRef<T>()
  watch(
    language,
    async (chosen) => {
      const loaded = await load(languageTexts[chosen])
      if (chosen === language.value) texts.value = loaded
    },
    { immediate: true },
  )
  return texts
}
