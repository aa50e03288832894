import { useEventListener } from '@vueuse/core'
import { onBeforeUnmount, watch } from 'vue'
import type { Place } from './arrange.ts'
import type { Tile } from './tiles.ts'

/**
 * Delay of reports, in milliseconds: resizing a window causes no requests, and a briefly hidden tile keeps its stream.
 */
const settleMs = 600
/** Height of a picture in picture-in-picture, in CSS pixels. */
const apartHeight = 240

/**
 * Reports the displayed height of each received picture, in device pixels. 0: its tile has no place, another tile is in
 * full screen, or the page is hidden and the picture is not in picture-in-picture. A picture that becomes visible is
 * reported at once.
 * @param apart id of the picture in picture-in-picture; null: none
 */
export function useShownHeights(
  tiles: () => readonly Tile[],
  places: () => ReadonlyMap<string, Place>,
  apart: () => string | null,
  tell: (heights: ReadonlyMap<string, number>) => void,
): void {
  let told: ReadonlyMap<string, number> = new Map()
  let timer: ReturnType<typeof setTimeout> | undefined

  function heights(): Map<string, number> {
    const full = document.fullscreenElement
    const fullId = full instanceof HTMLElement ? full.dataset.tile : undefined
    const heightOf = (id: string): number => {
      if (document.visibilityState === 'hidden') return 0
      if (fullId !== undefined) return id === fullId ? window.innerHeight : 0
      return places().get(id)?.height ?? 0
    }
    const arriving = tiles().filter(({ media }) => media !== undefined)
    const small = apart()
    const highest = (id: string): number => Math.max(heightOf(id), id === small ? apartHeight : 0)
    return new Map(arriving.map(({ id }) => [id, Math.round(highest(id) * window.devicePixelRatio)]))
  }

  function notifyNow(): void {
    clearTimeout(timer)
    timer = undefined
    const now = heights()
    if (now.size === told.size && [...now].every(([id, height]) => told.get(id) === height)) return
    told = now
    tell(now)
  }

  function changed(): void {
    const appears = [...heights()].some(([id, height]) => height > 0 && told.get(id) === 0)
    if (appears) notifyNow()
    else timer ??= setTimeout(notifyNow, settleMs)
  }

  watch([tiles, places, apart], changed, { immediate: true })
  useEventListener(document, ['visibilitychange', 'fullscreenchange'], changed)
  onBeforeUnmount(() => clearTimeout(timer))
}
