import { useDebounceFn } from '@vueuse/core'
import { ref, shallowRef } from 'vue'

/** Time without typing after which a search starts, in milliseconds. */
const restMs = 150
/** Maximum length of a searched text; the controller refuses longer ones. */
const longest = 200

/**
 * Searches with a call. The results are those of the latest text: an answer to an earlier one is dropped. If a call
 * fails, the results stay; the shell reports a lost connection.
 */
export function useSearch<T>(none: NoInfer<T>, read: (text: string) => Promise<T>) {
  const found = shallowRef<T>(none)
  const loading = ref(false)
  /** Whether `found` is an answer; false: it is `none`. */
  const answered = ref(false)
  let generation = 0

  /** Searches now. */
  async function search(text: string): Promise<void> {
    const mine = ++generation
    loading.value = true
    const results = await read(text.trim().slice(0, longest)).catch(() => undefined)
    if (mine !== generation) return
    if (results !== undefined) {
      found.value = results
      answered.value = true
    }
    loading.value = false
  }

  /** Searches once the text rests. */
  const searchLater = useDebounceFn(search, restMs)
  return { found, answered, loading, search, searchLater }
}
