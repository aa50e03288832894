import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { violations } from '../../support/axe.ts'
import { openWindows } from '../../support/chromium.ts'
import { ControllersSite, type SiteController } from '../../support/sites/controllers-site.ts'
import { ConsolePages } from '../console-pages.ts'
import { lookAt, sizes, type Themes } from '../surfaces/surface-walk.ts'

const node = { name: 'here', kind: 'embedded', addresses: [{ tag: 'office', addr: '10.0.0.5:7082' }] } as const
const sentence = /Address 10\.0\.0\.5:7082 does not change on failover/
/** Folder for screenshots. */
const pictures = process.env.ROOMDESK_PICTURES

async function signIn(page: Page, { headless }: SiteController): Promise<void> {
  const key = (await readFile(join(headless.folder, 'console.key'), 'utf8')).trim()
  await page.goto(`${headless.ready.console}/#key=${key}`)
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
}

/**
 * The page about controllers. @param themes in which axe looks at it
 * @param faces controllers whose console is opened: both have the same pages
 */
export function controllersStory(themes: Themes, faces: readonly ('leader' | 'standby')[]): void {
  test(`The console of a site with several controllers lists them and explains an address that leads to one machine; axe finds nothing, ${themes.join(' and ')}`, {
    timeout: 90_000,
  }, async () => {
    const site = await ControllersSite.start({
      controllers: 2,
      nodes: [node],
      settings: { console: { language: 'en' } },
    })
    onTestFinished(() => site.remove())
    const browser = await openWindows()
    onTestFinished(() => browser.close())
    const leads = await site.leader()
    const follows = site.controllers.find((one) => one !== leads) ?? leads
    const found: Record<string, string[]> = {}
    for (const theme of themes) {
      await leads.headless.rpc('settings.set', { console: { theme } })
      const looksFor = theme === 'light' ? 'everything' : 'colours'
      for (const whose of faces) {
        const controller = whose === 'leader' ? leads : follows
        const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, locale: 'en-GB' })
        const look = async (what: string): Promise<void> => {
          found[`${what} of the ${whose}, ${theme}`] = await violations(page, looksFor)
          if (pictures !== undefined) await page.screenshot({ path: join(pictures, `${whose}-${theme}-${what}.png`) })
        }
        const pages = new ConsolePages(page)
        await signIn(page, controller)
        await pages.go('Controllers')
        await pages.row(/Replica/).waitFor()
        await look('controllers')
        await pages
          .row(/Replica/)
          .getByRole('button', { name: /^More actions/ })
          .click()
        await lookAt(page, 'ControllersPage AppMenu', 'desktop', found, [theme])
        await page.keyboard.press('Escape')
        await pages.row(/Replica/).click()
        await lookAt(page, 'ControllerPanel SidePanel', 'desktop', found, [theme])
        await look('a controller')
        await page.setViewportSize(sizes.phone)
        await lookAt(page, 'ControllerPanel SidePanel', 'phone', found, [theme])
        await page.setViewportSize({ width: 1280, height: 800 })
        await pages.go('MCU nodes')
        await pages.row(node.name).click()
        await pages.panel(node.name).getByText(sentence).waitFor()
        await look('a node')
        if (controller === leads) {
          await pages.panel(node.name).getByRole('button', { name: 'Edit' }).click()
          const form = pages.dialog(/here/)
          await form.getByText(sentence).waitFor()
          await look('the form of a node')
          await form.getByRole('button', { name: 'Remove this address' }).click()
          await form.getByText(sentence).waitFor({ state: 'detached' })
        } else {
          // A replica creates nothing: the setup page names the leader.
          await page.evaluate(`location.hash = '/welcome'`)
          await page.getByText('This controller is a replica. Open the setup in the console of the leader.').waitFor()
          await look('the first run')
        }
        await page.context().close()
      }
    }
    expect(Object.fromEntries(Object.entries(found).filter(([, some]) => some.length > 0))).toEqual({})
  })
}
