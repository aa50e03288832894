import { type Ref, shallowRef, watch } from 'vue'
import type { Language } from '../../../shared/languages.ts'
import { loadHelpPage } from './contents.ts'
import type { HelpPage } from './page-content.ts'

/**
 * Loads the page at a path of the console, in `language` or in English. `shown`: the page and its language; `missing`:
 * the page does not exist. A later path or language takes precedence.
 */
export function useHelpPage(path: Readonly<Ref<string>>, language: Readonly<Ref<Language>>) {
  const shown = shallowRef<{ page: HelpPage; language: Language }>()
  const error = shallowRef<unknown>()
  const missing = shallowRef(false)

  async function load(): Promise<void> {
    const [wanted, spoken] = [path.value, language.value]
    const isCurrent = (): boolean => path.value === wanted && language.value === spoken
    error.value = undefined
    const loading = loadHelpPage(wanted, spoken)
    missing.value = loading === undefined
    try {
      const loaded = await loading
      if (isCurrent()) shown.value = loaded
    } catch (reason) {
      if (isCurrent()) error.value = reason
    }
  }
  watch([path, language], load, { immediate: true })
  return { shown, error, missing, load }
}
