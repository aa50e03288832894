import { app, type Rectangle } from 'electron'
import type { Preferences } from './preferences.ts'

type Placement = Preferences['window']

const preferred = { width: 1360, height: 860 }
/** Minimum size for every page of the console, in DIP. */
export const smallest = { width: 900, height: 600 }
/** Minimum part of the window's top edge that must be on a screen, so that the user can move the window. In DIP. */
const grip = { width: 120, height: 40 }

/**
 * Whether the app can position its windows and read their positions. On Wayland neither is possible: `getBounds()`
 * returns 0,0. Chromium adds the switch when it chooses Wayland for the session (`SetOzonePlatformForLinuxIfNeeded`).
 */
export function areWindowsPlaced(): boolean {
  return app.commandLine.getSwitchValue('ozone-platform') !== 'wayland'
}

/**
 * Returns the bounds of a new window: the last ones if they are still on a screen; otherwise only a size, no larger
 * than the screen, so that the window is centered.
 * @param workAreas work areas of all screens, the primary one first; in DIP
 */
export function placeWindow(was: Placement, workAreas: readonly Rectangle[]): Partial<Rectangle> & typeof preferred {
  if (was !== null && workAreas.some((area) => isWithinReach(was, area))) {
    const { x, y, width, height } = was
    return { x, y, width: Math.max(width, smallest.width), height: Math.max(height, smallest.height) }
  }
  const area = workAreas[0]
  if (area === undefined) return preferred
  return { width: Math.min(preferred.width, area.width), height: Math.min(preferred.height, area.height) }
}

function isWithinReach(was: NonNullable<Placement>, area: Rectangle): boolean {
  const across = Math.min(was.x + was.width, area.x + area.width) - Math.max(was.x, area.x)
  return across >= grip.width && was.y >= area.y && was.y <= area.y + area.height - grip.height
}
