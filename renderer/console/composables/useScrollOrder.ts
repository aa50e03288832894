import { onScopeDispose, ref, type Ref } from 'vue'

/** Time without scrolling after which the rows are sorted, in milliseconds. */
const restMs = 150

/**
 * While a list scrolls, its rows stay in the document in the order of their creation, because moving an element costs
 * as much as creating it. Afterwards they are sorted, because screen readers read them in document order. Rows with the
 * focus or selected text prevent that.
 */
export function useScrollOrder(content: Readonly<Ref<HTMLElement | null>>) {
  const asMade = ref(false)
  let timer = 0

  const isHeld = (): boolean =>
    content.value?.contains(document.activeElement) === true || document.getSelection()?.type === 'Range'

  function settle(): void {
    if (isHeld()) timer = window.setTimeout(settle, restMs)
    else asMade.value = false
  }

  /** Call on each scroll event. */
  function scrolls(): void {
    clearTimeout(timer)
    timer = window.setTimeout(settle, restMs)
    if (!asMade.value && !isHeld()) asMade.value = true
  }

  onScopeDispose(() => clearTimeout(timer))
  return { asMade, scrolls }
}
