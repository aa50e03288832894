import { useEventListener } from '@vueuse/core'
import { type Ref, ref } from 'vue'
import { moved, type TimeView, zoomed } from './axis.ts'

interface TimePointer {
  view: Ref<TimeView>
  /** Returns the moment at a distance from the left edge, in pixels. */
  momentOf: (x: number) => number
  seek: (at: number) => void
  select: (span: TimeView) => void
}

/** Maximum movement of a click, in pixels. */
const slack = 4
/** Height of the axis above the lanes, in pixels. */
const axisHeight = 26

/**
 * Handles the pointer: a click seeks, dragging over the lanes selects, dragging the axis or with a finger moves the
 * view, and two fingers zoom.
 */
export function useTimePointer({ view, momentOf, seek, select }: TimePointer) {
  const dragging = ref(false)
  const fingers = new Map<number, number>()
  let begin: { x: number; view: TimeView; moment: number; selects: boolean } | undefined
  let pinch: { distance: number; view: TimeView; moment: number } | undefined
  let left = 0

  function down(event: PointerEvent, track: HTMLElement | null): void {
    if (track === null || event.button !== 0) return
    const box = track.getBoundingClientRect()
    left = box.left
    fingers.set(event.pointerId, event.clientX - left)
    const x = event.clientX - left
    const selects = event.shiftKey || (event.pointerType === 'mouse' && event.clientY - box.top > axisHeight)
    begin = { x, view: view.value, moment: momentOf(x), selects }
    pinch = undefined
    if (fingers.size === 2) startPinch()
  }

  function startPinch(): void {
    const [one = 0, other = 0] = fingers.values()
    pinch = { distance: Math.max(20, Math.abs(one - other)), view: view.value, moment: momentOf((one + other) / 2) }
    dragging.value = true
  }

  function move(event: PointerEvent): void {
    if (!fingers.has(event.pointerId)) return
    const x = event.clientX - left
    fingers.set(event.pointerId, x)
    if (pinch !== undefined) {
      const [one = 0, other = 0] = fingers.values()
      view.value = zoomed(pinch.view, pinch.moment, pinch.distance / Math.max(20, Math.abs(one - other)))
      return
    }
    if (begin === undefined || (!dragging.value && Math.abs(x - begin.x) <= slack)) return
    dragging.value = true
    if (begin.selects) {
      const moment = momentOf(x)
      select({ from: Math.min(begin.moment, moment), to: Math.max(begin.moment, moment) })
    } else {
      const perPixel = begin.moment - view.value.from === 0 ? 0 : (momentOf(x) - momentOf(begin.x)) / (x - begin.x || 1)
      view.value = moved(begin.view, -(x - begin.x) * perPixel)
    }
  }

  function up(event: PointerEvent): void {
    if (!fingers.delete(event.pointerId)) return
    if (event.type === 'pointerup' && !dragging.value && begin !== undefined) seek(momentOf(event.clientX - left))
    if (fingers.size > 0) return
    begin = undefined
    pinch = undefined
    // After the click event that follows the drag, which must be ignored.
    setTimeout(() => (dragging.value = false))
  }

  useEventListener('pointermove', move)
  useEventListener(['pointerup', 'pointercancel'], up)
  return { dragging, down }
}
