import type { Rectangle } from 'electron'
import type { Preferences } from './preferences.ts'

type Placement = Preferences['window']

const preferred = { width: 1360, height: 860 }
/** The smallest size in which every page of the console works, in DIP. */
export const smallest = { width: 900, height: 600 }
/** How much of the window's top edge must be on a screen, so that it can be taken hold of. */
const grip = { width: 120, height: 40 }

/**
 * Place for the window to open: the last one, if that is still on a screen; else in the middle, no larger than the screen.
 * @param workAreas of every screen, the primary one first; in DIP
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
