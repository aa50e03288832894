import { type ShallowRef, shallowRef, watch } from 'vue'
import { type FindingTexts, languageTexts } from '../../i18n/languages.ts'
import { useText } from '../../i18n/text.ts'

/** Sentences of findings in the operator's language; undefined until they are loaded. */
export function useFindingTexts(): Readonly<ShallowRef<FindingTexts | undefined>> {
  const { language } = useText()
  const texts = shallowRef<FindingTexts>()
  async function load(): Promise<void> {
    const chosen = language.value
    const loaded = await languageTexts[chosen].loadFindings()
    if (chosen === language.value) texts.value = loaded
  }
  watch(language, () => void load(), { immediate: true })
  return texts
}
