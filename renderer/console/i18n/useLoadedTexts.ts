import { type ShallowRef, shallowRef, watch } from 'vue'
import { loadPageTexts, type PageTexts } from './languages.ts'
import { useText } from './text.ts'

/** Texts that one page loads itself, in the operator's language; undefined until they are loaded. */
export function useLoadedTexts<Name extends keyof PageTexts>(
  name: Name,
): Readonly<ShallowRef<PageTexts[Name] | undefined>> {
  const { language } = useText()
  const texts = shallowRef<PageTexts[Name]>()
  watch(
    language,
    async (chosen) => {
      const loaded = await loadPageTexts(chosen, name)
      if (chosen === language.value) texts.value = loaded
    },
    { immediate: true },
  )
  return texts
}
