import { beforeEach, expect, test, vi } from 'vitest'
import { effectScope, shallowRef } from 'vue'
import { useTileView } from '../../../renderer/console/pages/wall/useTileView.ts'

/** Reports a size like the browser. */
let resize: (width: number, height: number) => void
let intersect: (seen: boolean) => void
let hidden = false

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('devicePixelRatio', 2)
  vi.stubGlobal(
    'ResizeObserver',
    class {
      constructor(tell: (entries: unknown[]) => void) {
        resize = (width, height) => tell([{ contentRect: { width, height } }])
      }
      observe(): void {}
      unobserve(): void {}
      disconnect(): void {}
    },
  )
  vi.stubGlobal(
    'IntersectionObserver',
    class {
      constructor(tell: (entries: unknown[]) => void) {
        intersect = (isIntersecting) => tell([{ isIntersecting }])
      }
      observe(): void {}
      unobserve(): void {}
      disconnect(): void {}
    },
  )
  vi.spyOn(document, 'hidden', 'get').mockImplementation(() => hidden)
})

function show(page: boolean): void {
  hidden = !page
  document.dispatchEvent(new Event('visibilitychange'))
}

test('A tile requests its height on the screen, requests nothing while it is hidden, and releases its stream after a while', () => {
  const scope = effectScope()
  const view = scope.run(() => useTileView(shallowRef(document.createElement('div'))))
  if (view === undefined) throw new Error('the scope was stopped')
  const now = (): [number, boolean] => [view.height.value, view.wanted.value]
  intersect(true)
  expect(now()).toEqual([0, false])
  // Twice the device pixels; the width limits the height of a picture.
  resize(320, 400)
  vi.advanceTimersByTime(0)
  expect(now()).toEqual([360, true])
  // Nothing is reported while a window is resized.
  resize(160, 90)
  vi.advanceTimersByTime(100)
  resize(640, 360)
  vi.advanceTimersByTime(100)
  expect(now()).toEqual([360, true])
  vi.advanceTimersByTime(200)
  expect(now()).toEqual([720, true])

  intersect(false)
  expect(now()).toEqual([0, true])
  vi.advanceTimersByTime(4_900)
  expect(now()).toEqual([0, true])
  intersect(true)
  expect(now()).toEqual([720, true])
  intersect(false)
  vi.advanceTimersByTime(5_000)
  expect(now()).toEqual([0, false])
  intersect(true)
  expect(now()).toEqual([720, true])

  show(false)
  vi.advanceTimersByTime(29_900)
  expect(now()).toEqual([0, true])
  show(true)
  expect(now()).toEqual([720, true])
  show(false)
  vi.advanceTimersByTime(30_000)
  expect(now()).toEqual([0, false])
  show(true)
  expect(now()).toEqual([720, true])
  scope.stop()
})
