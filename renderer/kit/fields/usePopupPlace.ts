import { onMounted, shallowRef, type ShallowRef } from 'vue'

/**
 * Parent of a control's list or menu: the surrounding dialog, else the page. Otherwise it would be outside of every
 * landmark, and a screen reader inside a dialog would not find it.
 */
export function usePopupPlace(root: () => unknown): Readonly<ShallowRef<HTMLElement | 'body'>> {
  const place = shallowRef<HTMLElement | 'body'>('body')
  onMounted(() => {
    const element = root()
    if (!(element instanceof Element)) return
    const around = element.closest<HTMLElement>('dialog')
    place.value = around ?? document.querySelector<HTMLElement>('[data-popups]') ?? 'body'
  })
  return place
}
