import { onScopeDispose, ref, type Ref, type ShallowRef, watchEffect } from 'vue'
import { toldHeight } from './told-height.ts'

/** A tile that is out of view for so long stops its stream, in milliseconds; so does each of a window that nobody sees. */
const outOfViewMs = 5_000
const hiddenMs = 30_000
/** A size that changes is told once it rests for so long, in milliseconds. */
const restMs = 250

/** How a tile is seen. */
export interface TileView {
  /** In device pixels, as it is told to the node; 0 while it is not seen. */
  height: Readonly<Ref<number>>
  /** Its stream is wanted: it is seen, or was a moment ago. */
  wanted: Readonly<Ref<boolean>>
}

/** Watches how large a tile is and whether anybody sees it. */
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
    // The picture is as high as its shape lets it be.
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
