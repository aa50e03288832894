import { expect, onTestFinished, test } from 'vitest'
import { openWindows } from '../support/chromium.ts'
import { startHeadless } from '../support/headless.ts'
import { consoleSurfaces } from '../e2e/surfaces/console-surfaces.ts'
import { noteCutTexts } from '../e2e/surfaces/cut-texts.ts'
import { SurfaceWalk } from '../e2e/surfaces/surface-walk.ts'
import { fillSite, signInAs, site } from '../e2e/walk/filled-site.ts'
import { waitingGuest } from '../e2e/walk/waiting-guest.ts'

test('no dialog or panel cuts off its texts on a phone, in any language', async () => {
  await using controller = await startHeadless({ site })
  const browser = await openWindows()
  onTestFinished(() => browser.close())
  const { room } = await fillSite(controller)
  const guest = await waitingGuest(controller)
  onTestFinished(() => guest.socket.close())
  const page = await browser.newPage({ locale: 'en-US', reducedMotion: 'reduce' })
  page.setDefaultTimeout(15_000)
  const walk = new SurfaceWalk(page)
  await walk.watch()
  await signInAs('admin', page, controller)
  const cut: Record<string, string[]> = {}
  // Each change of the language is an event: those that look for an older one come first.
  const ways = Object.entries(consoleSurfaces(room))
  ways.sort(([, one], [, other]) => Number(other.route === '/events') - Number(one.route === '/events'))
  for (const [name, way] of ways) {
    if (way.only === 'desktop') continue
    await walk.open(way, 'phone')
    await noteCutTexts(page, controller.rpc.bind(controller), name, cut)
  }
  expect(cut).toEqual({})
}, 900_000)
