import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Role } from '../../shared/domain/roles.ts'
import { openWindows, type Windows } from '../support/chromium.ts'
import { type Headless, startHeadless } from '../support/headless.ts'
import { ControlWalk } from '../e2e/walk/control-walk.ts'
import { fillSite, signInAs, site } from '../e2e/walk/filled-site.ts'

/** Every dialog to its end; else pages, panels, menus and the first step of each dialog. */
const isWhole = process.env.ROOMDESK_WALK === 'whole'

/** Nothing that a role may not do is offered to it: everything that can be clicked is clicked, as a viewer and as an operator. */
describe('a viewer and an operator in the console', () => {
  let controller: Headless
  let browser: Windows
  let routes: string[]
  beforeAll(async () => {
    controller = await startHeadless({ site })
    browser = await openWindows()
    ;({ routes } = await fillSite(controller))
  })
  afterAll(async () => {
    await browser.close()
    await controller.remove()
  })

  test.concurrent.each<Role>(['viewer', 'operator'])(
    'A %s is offered only what this role may do',
    async (role) => {
      const walk = await signIn(controller, browser, role)
      for (const route of routes) await walk.walk(route)
      // Fewer were no walk: a page did not open.
      expect(walk.clicks).toBeGreaterThan(40)
      expect(walk.found).toEqual([])
    },
    600_000,
  )
})

async function signIn(controller: Headless, browser: Windows, role: Role): Promise<ControlWalk> {
  const page = await browser.newPage({
    viewport: { width: 1360, height: 860 },
    locale: 'en-US',
    reducedMotion: 'reduce',
  })
  const walk = new ControlWalk(page, role, isWhole ? 5 : 1)
  await walk.watch()
  await signInAs(role, page, controller)
  return walk
}
