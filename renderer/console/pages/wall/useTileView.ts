import { onScopeDispose, ref, type Ref, type ShallowRef, watchEffect } from 'vue'
import { toldHeight } from './told-height.ts'

/**
 * Time out of view after which a tile stops its stream, in milliseconds; the longer one applies to tiles of a hidden
 * window.
 */
const outOfViewMs = 5_000
const hiddenMs = 30_000
/** Time without a change before a new size is reported, in milliseconds. */
const restMs = 250

/** Visibility of a tile. */
export interface TileView {
  /** Height in device pixels, as reported to the node; 0 while hidden. */
  height: Readonly<Ref<number>>
  /** Whether the stream is needed: the tile is visible, or was visible recently. */
  wanted: Readonly<Ref<boolean>>
}

/** Observes the size and visibility of a tile. */
export function useTileView(element: Readonly<ShallowRef<HTMLElement | null>>): TileView {
  const height = ref(0)
  const wanted = ref(false)
  let inView = false
  let pixels = 0
  let told = 0
  let sizeTimer: ReturnType<typeof setTimeout> | undefined
  let stopTimer: ReturnType<typeof setTimeout> | undefined

  function look(): void {
    clearTimeout(sizeTimer)
    clearTimeout(stopTimer)
    const seen = inView && !document.hidden && pixels > 0
    if (seen) {
      told = toldHeight(told, pixels)
      height.value = told
      wanted.value = true
      return
    }
    height.value = 0
    if (wanted.value) stopTimer = setTimeout(() => (wanted.value = false), inView ? hiddenMs : outOfViewMs)
  }

  const sizes = new ResizeObserver(([entry]) => {
    const { width, height: lines } = entry?.contentRect ?? { width: 0, height: 0 }
    // The aspect ratio limits the height of the picture.
    pixels = Math.min(lines, (width * 9) / 16) * devicePixelRatio
    clearTimeout(sizeTimer)
    sizeTimer = setTimeout(look, told === 0 ? 0 : restMs)
  })
  const views = new IntersectionObserver(([entry]) => {
    inView = entry?.isIntersecting === true
    look()
  })
  watchEffect((clean) => {
    const { value } = element
    if (value === null) return
    sizes.observe(value)
    views.observe(value)
    clean(() => {
      sizes.unobserve(value)
      views.unobserve(value)
    })
  })
  document.addEventListener('visibilitychange', look)
  onScopeDispose(() => {
    clearTimeout(sizeTimer)
    clearTimeout(stopTimer)
    sizes.disconnect()
    views.disconnect()
    document.removeEventListener('visibilitychange', look)
  })
  return { height, wanted }
}
