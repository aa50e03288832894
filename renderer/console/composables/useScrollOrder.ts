import { onScopeDispose, ref } from 'vue'
import type { Ref } from 'vue'

/** Time without scrolling after which the list rests, in milliseconds. */
const restMs = 150

/**
 * While a list scrolls, its rows stand in the document as they were made: moving an element costs as much as making it. Once it rests they stand in their order, in which
 * screen readers read them. With the focus or selected text in a row, nothing moves.
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

  /** Called with every step of the scrolling. */
  function scrolls(): void {
    clearTimeout(timer)
    timer = window.setTimeout(settle, restMs)
    if (!asMade.value && !isHeld()) asMade.value = true
  }

  onScopeDispose(() => clearTimeout(timer))
  return { asMade, scrolls }
}
