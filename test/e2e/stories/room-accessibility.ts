import { expect, test } from 'vitest'
import type { RoomSite, Visitor } from '../../support/sites/room-site.ts'
import { entranceSurfaces, roomSurfaces, type RoomWay } from '../surfaces/room-surfaces.ts'
import { lookAt, type Size, sizes } from '../surfaces/surface-walk.ts'

/** Accessibility of a room: axe finds nothing from its entrance to its panels, dialogs and menus, light and dark. */
export function roomAccessibilityStory(opened: () => RoomSite, size: Size): void {
  test(`axe finds nothing at the entrance, in the room, and in its panels, dialogs and menus, ${size}`, async () => {
    const site = opened()
    const room = await site.room({ topic: '交接班' })
    await site.camera(room, `gate-${size}`, 'North gate')
    const visitor = await site.open(await site.link(room, { role: 'host' }), {
      viewport: sizes[size],
      colorScheme: 'light',
    })
    const found: Record<string, string[]> = {}
    await visitor.page.locator('video').waitFor()
    await lookAtPage(visitor, `entrance, ${size}`, found)
    await lookAtAll(visitor, entranceSurfaces, size, found)
    await visitor.enter('Ann')
    const guest = await site.join(await site.link(room), { name: 'Bo', equipment: 'none' })
    await visitor.sees('North gate')
    await visitor.tile('Bo').waitFor()
    await lookAtPage(visitor, `room, ${size}`, found)
    await lookAtAll(visitor, roomSurfaces, size, found)
    expect(found).toEqual({})
    await Promise.all([guest.close(), visitor.close()])
  }, 180_000)
}

/** Notes what axe finds on the whole page. */
async function lookAtPage(visitor: Visitor, name: string, found: Record<string, string[]>): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await visitor.page.emulateMedia({ colorScheme })
    // Both themes have the same structure.
    const some = await visitor.accessibilityProblems(colorScheme === 'light' ? 'everything' : 'colours')
    if (some.length > 0) found[`${name}, ${colorScheme}`] = some
  }
  await visitor.page.emulateMedia({ colorScheme: 'light' })
}

/** Opens surfaces one after the other, notes what axe finds in each, and closes it. */
async function lookAtAll(
  visitor: Visitor,
  surfaces: Readonly<Record<string, RoomWay>>,
  size: Size,
  found: Record<string, string[]>,
): Promise<void> {
  for (const [name, way] of Object.entries(surfaces)) {
    if (way.only !== undefined && way.only !== size) continue
    await way.open(visitor)
    await lookAt(visitor.page, name, size, found)
    if (way.isPanel === true) await way.open(visitor)
    else await visitor.page.keyboard.press('Escape')
  }
}
