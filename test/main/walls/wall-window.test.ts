import { EventEmitter } from 'node:events'
import { expect, test, vi } from 'vitest'
import { closeKiosk } from '../../../main/walls/wall-window.ts'
import { onSystem } from '../../support/on-system.ts'

/** A window that covers a display, and takes a moment to leave its full screen, or for ever. */
class Covering extends EventEmitter {
  readonly done: string[] = []
  readonly #leaves: boolean

  constructor({ leaves = true } = {}) {
    super()
    this.#leaves = leaves
  }

  isDestroyed(): boolean {
    return this.done.includes('destroyed')
  }

  destroy(): void {
    this.done.push('destroyed')
  }

  setKiosk(kiosk: boolean): void {
    this.done.push(`kiosk ${kiosk}`)
    if (this.#leaves) setImmediate(() => this.emit('leave-full-screen'))
  }
}

test('on macOS a wall leaves kiosk mode before it is closed, because kiosk mode hides the Dock and the menus of the whole app', async () => {
  onSystem('darwin')
  const wall = new Covering()
  closeKiosk(wall)
  expect(wall.done).toEqual(['kiosk false'])
  await expect.poll(() => wall.done).toEqual(['kiosk false', 'destroyed'])
  closeKiosk(wall)
  expect(wall.done).toHaveLength(2)
})

test('on macOS a wall that does not leave full screen is closed all the same', () => {
  onSystem('darwin')
  vi.useFakeTimers()
  const wall = new Covering({ leaves: false })
  closeKiosk(wall)
  vi.advanceTimersByTime(10_000)
  vi.useRealTimers()
  expect(wall.done).toEqual(['kiosk false', 'destroyed'])
})

test.each(['linux', 'win32'] as const)('on %s it is closed at once', (system) => {
  onSystem(system)
  const wall = new Covering()
  closeKiosk(wall)
  expect(wall.done).toEqual(['destroyed'])
})
