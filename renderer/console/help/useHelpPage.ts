import { type Ref, shallowRef, watch } from 'vue'
import { loadHelpPage } from './contents.ts'
import type { HelpPage } from './page-content.ts'

/** Loads the page at a path of the console. `missing`: there is none. A later path takes precedence. */
export function useHelpPage(path: Readonly<Ref<string>>) {
  const page = shallowRef<HelpPage>()
  const error = shallowRef<unknown>()
  const missing = shallowRef(false)

  async function load(): Promise<void> {
    const wanted = path.value
    error.value = undefined
    const loading = loadHelpPage(wanted)
    missing.value = loading === undefined
    try {
      const loaded = await loading
      if (path.value === wanted) page.value = loaded
    } catch (reason) {
      if (path.value === wanted) error.value = reason
    }
  }
  watch(path, load, { immediate: true })
  return { page, error, missing, load }
}
