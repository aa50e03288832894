import { computed, ref } from 'vue'
import { remember, remembered } from '../local/remembered.ts'
import { type Place, tileRatio } from './arrange.ts'

/** Corners of the stage: top or bottom, left or right. */
const corners = ['tl', 'tr', 'bl', 'br'] as const
type Corner = (typeof corners)[number]
/** Sides of the stage, by the arrow key that moves the picture there. */
const sides: Readonly<Record<string, string>> = { ArrowUp: 't', ArrowDown: 'b', ArrowLeft: 'l', ArrowRight: 'r' }

const margin = 10
const width = { least: 112, most: 220, share: 0.24 }
/** Minimum movement that makes a press a drag, in pixels. */
const dragFrom = 4

interface Size {
  width: number
  height: number
}

/** Position of the floating own picture. @param size of the stage */
export function useOwnCorner(size: () => Size) {
  const corner = ref<Corner>(corners.find((each) => each === remembered().corner) ?? 'br')
  /** Position during a drag. */
  const held = ref<{ left: number; top: number } | null>(null)
  const own = computed(() => {
    const stage = size()
    const side = Math.max(width.least, Math.min(width.most, stage.width * width.share, stage.height * 0.5))
    return { width: Math.floor(side), height: Math.floor(side / tileRatio) }
  })
  const place = computed((): Place => ({ ...(held.value ?? at(corner.value, size(), own.value)), ...own.value }))

  function choose(chosen: Corner): void {
    corner.value = chosen
    remember({ corner: chosen })
  }

  /** Starts a drag; at its end the picture moves to the nearest corner. */
  function press(event: PointerEvent): void {
    const { currentTarget: tile, target } = event
    const onButton = target instanceof Element && target.closest('button') !== null
    if (event.button !== 0 || onButton || !(tile instanceof HTMLElement)) return
    const start = { x: event.clientX, y: event.clientY, ...at(corner.value, size(), own.value) }
    const over = new AbortController()
    const { signal } = over
    const move = ({ clientX, clientY }: PointerEvent): void => {
      const [byX, byY] = [clientX - start.x, clientY - start.y]
      if (held.value === null && Math.hypot(byX, byY) < dragFrom) return
      const stage = size()
      held.value = {
        left: Math.max(0, Math.min(start.left + byX, stage.width - own.value.width)),
        top: Math.max(0, Math.min(start.top + byY, stage.height - own.value.height)),
      }
    }
    const end = (): void => {
      over.abort()
      if (held.value !== null) choose(nearest(held.value, size(), own.value))
      held.value = null
    }
    tile.setPointerCapture(event.pointerId)
    tile.addEventListener('pointermove', move, { signal })
    for (const name of ['pointerup', 'pointercancel'] as const) tile.addEventListener(name, end, { signal })
  }

  /** Moves the picture by an arrow key. Returns whether the key was one. */
  function key(name: string): boolean {
    const side = sides[name]
    if (side === undefined) return false
    const kept = corner.value.charAt(side === 't' || side === 'b' ? 1 : 0)
    choose(corners.find((each) => each.includes(side) && each.includes(kept)) ?? corner.value)
    return true
  }

  return { place, corner, dragging: computed(() => held.value !== null), press, key }
}

function at(corner: Corner, stage: Size, own: Size): { left: number; top: number } {
  return {
    left: corner.endsWith('l') ? margin : Math.max(0, stage.width - own.width - margin),
    top: corner.startsWith('t') ? margin : Math.max(0, stage.height - own.height - margin),
  }
}

/** Returns the corner in whose quarter of the stage the middle of the picture is. */
function nearest({ left, top }: { left: number; top: number }, stage: Size, own: Size): Corner {
  const isLeft = left + own.width / 2 < stage.width / 2
  const isTop = top + own.height / 2 < stage.height / 2
  return `${isTop ? 't' : 'b'}${isLeft ? 'l' : 'r'}`
}
