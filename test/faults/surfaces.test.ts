import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openWindows, type Windows } from '../support/chromium.ts'
import { type Headless, startHeadless } from '../support/headless.ts'
import type { SignalClient } from '../support/media/signal-client.ts'
import { consoleSurfaces } from '../e2e/surfaces/console-surfaces.ts'
import { allThemes, type Size, SurfaceWalk } from '../e2e/surfaces/surface-walk.ts'
import { fillSite, signInAs, site } from '../e2e/walk/filled-site.ts'
import { waitingGuest } from '../e2e/walk/waiting-guest.ts'

/** Every dialog, drawer, panel and menu of the console can be read by everybody. */
describe('the dialogs, panels and menus of the console', () => {
  let controller: Headless
  let browser: Windows
  let room: string
  const guests: SignalClient[] = []
  beforeAll(async () => {
    controller = await startHeadless({ site })
    browser = await openWindows()
    ;({ room } = await fillSite(controller))
    guests.push(await waitingGuest(controller))
  })
  afterAll(async () => {
    for (const guest of guests) guest.socket.close()
    await browser.close()
    await controller.remove()
  })

  test.each<Size>(['desktop', 'phone'])(
    'axe finds nothing in any of them, %s',
    async (size) => {
      // Signed in anew: some changes ask for the password of a session that is older than some minutes.
      const walk = await signIn(controller, browser)
      for (const [name, way] of Object.entries(consoleSurfaces(room))) await walk.look(name, way, size, allThemes)
      expect(walk.found).toEqual({})
    },
    900_000,
  )
})

async function signIn(controller: Headless, browser: Windows): Promise<SurfaceWalk> {
  const page = await browser.newPage({ locale: 'en-US', reducedMotion: 'reduce' })
  page.setDefaultTimeout(15_000)
  const walk = new SurfaceWalk(page)
  await walk.watch()
  await signInAs('admin', page, controller)
  return walk
}
