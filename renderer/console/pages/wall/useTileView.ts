import { useEventListener, useIntersectionObserver, useResizeObserver } from '@vueuse/core'
import { onScopeDispose, ref, type ShallowRef } from 'vue'

/**
 * Time out of view after which a tile stops its stream, in milliseconds; the longer one applies to tiles of a hidden
 * window.
 */
const outOfViewMs = 5_000
const hiddenMs = 30_000
/** Time without a change before a new size is reported, in milliseconds. */
const restMs = 250

/** Observes the size and visibility of a tile. */
export function useTileView(element: Readonly<ShallowRef<HTMLElement | null>>) {
  /** Height in device pixels, as reported to the node; 0 while hidden. */
  const height = ref(0)
  /** Whether the stream is needed: the tile is visible, or was visible recently. */
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

  useResizeObserver(element, ([entry]) => {
    const { width, height: lines } = entry?.contentRect ?? { width: 0, height: 0 }
    // The aspect ratio limits the height of the picture.
    pixels = Math.min(lines, (width * 9) / 16) * devicePixelRatio
    clearTimeout(sizeTimer)
    sizeTimer = setTimeout(look, told === 0 ? 0 : restMs)
  })
  useIntersectionObserver(element, ([entry]) => {
    inView = entry?.isIntersecting === true
    look()
  })
  useEventListener(document, 'visibilitychange', look)
  onScopeDispose(() => {
    clearTimeout(sizeTimer)
    clearTimeout(stopTimer)
  })
  return { height, wanted }
}

/** Step of reported heights, in device pixels. */
const step = 30
/** Minimum relative change to report: resizing windows and scroll bars must not cause requests. */
const enough = 0.15

/**
 * Returns the height of a picture to report to the node: in steps, and only after a large change.
 * @param told last reported height, in device pixels
 * @param height current height, in device pixels
 */
export function toldHeight(told: number, height: number): number {
  if (height <= 0) return 0
  if (told > 0 && Math.abs(height - told) < told * enough) return told
  return Math.ceil(height / step) * step
}
