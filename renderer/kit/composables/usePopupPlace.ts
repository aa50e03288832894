import { onMounted, shallowRef } from 'vue'
import type { ShallowRef } from 'vue'

/**
 * Parent of a list or menu of a control: the dialog around it, else the page. Beside them it would be outside of every landmark, and a screen reader that is in a dialog does not
 * look there.
 */
export function usePopupPlace(root: () => unknown): Readonly<ShallowRef<HTMLElement | 'body'>> {
  const place = shallowRef<HTMLElement | 'body'>('body')
  onMounted(() => {
    const element = root()
    if (!(element instanceof Element)) return
    const around = element.closest<HTMLElement>('[role="dialog"]')
    place.value = around ?? document.querySelector<HTMLElement>('[data-popups]') ?? 'body'
  })
  return place
}
