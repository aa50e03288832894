import { expect, test } from 'vitest'
import type { RoomSite } from '../../support/sites/room-site.ts'

/** Accessibility of a room: axe finds nothing from its entrance to its menus in these colours. */
export function roomAccessibilityStory(opened: () => RoomSite, colorScheme: 'light' | 'dark'): void {
  test(`axe finds nothing at the entrance, in the room and its panels, ${colorScheme}`, async () => {
    // Both themes have the same structure.
    const looksFor = colorScheme === 'light' ? 'everything' : 'colours'
    const site = opened()
    const room = await site.room({ topic: '交接班' })
    await site.camera(room, `gate-${colorScheme}`, 'North gate')
    const visitor = await site.open(await site.link(room, { role: 'host' }), { colorScheme })
    await visitor.page.locator('video').waitFor()
    expect(await visitor.accessibilityProblems(looksFor)).toEqual([])
    await visitor.enter('Ann')
    await visitor.sees('North gate')
    expect(await visitor.accessibilityProblems(looksFor)).toEqual([])
    const guest = await site.join(await site.link(room), { name: 'Bo', equipment: 'none' })
    for (const panel of ['People', 'Chat']) {
      await visitor.button(panel).click()
      await visitor.page.getByRole('region', { name: panel }).waitFor()
      expect(await visitor.accessibilityProblems(looksFor)).toEqual([])
    }
    await visitor.tile('Bo').hover()
    await visitor.tile('Bo').getByRole('button', { name: 'Actions for Bo' }).click()
    await visitor.page.getByRole('menuitem', { name: 'Remove from the room' }).waitFor()
    expect(await visitor.accessibilityProblems(looksFor)).toEqual([])
    await Promise.all([guest.close(), visitor.close()])
  })
}
