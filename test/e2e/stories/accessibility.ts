import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { violations } from '../../support/axe.ts'
import { siteWithoutMedia, startHeadless } from '../../support/headless.ts'
import { openWindows } from '../../support/chromium.ts'
import type { ConsoleUnderTest } from '../../support/sites/console-site.ts'
import { ConsolePages } from '../console-pages.ts'
import { visitEveryPage, violationsOfPages } from './every-page.ts'

/** Every page of the router opens, and its title is not the one of an unknown address. */
export function everyPageStory(opened: () => ConsoleUnderTest): void {
  test('every page opens', async () => {
    const { call, page } = opened()
    await call('settings.set', { console: { theme: 'light', language: 'en' } })
    await call('overview.dismiss_welcome', {})
    await page.reload()
    const unknown: string[] = []
    const visited: string[] = []
    await visitEveryPage(page, 'desktop', async (path) => {
      visited.push(path)
      if ((await page.getByRole('heading', { level: 1 }).first().innerText()) === 'Page not found') unknown.push(path)
    })
    expect(visited.length).toBeGreaterThan(20)
    expect(unknown).toEqual(['/no-such-page'])
  })
}

/** Accessibility: axe finds nothing on any page in this theme. */
export function accessibilityStory(opened: () => ConsoleUnderTest, theme: 'light' | 'dark'): void {
  test(`axe finds nothing on any page in the ${theme} theme`, async () => {
    const { call, page } = opened()
    const pages = new ConsolePages(page)
    const isDark = (): Promise<unknown> => page.evaluate(`document.documentElement.classList.contains('dark')`)
    await call('settings.set', { console: { theme, language: 'en' } })
    // On an unused site the welcome page replaces the overview.
    await call('overview.dismiss_welcome', {})
    await page.reload()
    await expect.poll(isDark).toBe(theme === 'dark')
    const { room_id } = await call('rooms.create', { topic: 'A long topic of a room that is looked at' })
    // With a simulated node the Lab exists, too.
    const trial = `Trial ${theme}`
    await call('nodes.add', { name: trial, kind: 'simulated' })
    // Both themes have the same structure.
    const looksFor = theme === 'light' ? 'everything' : 'colours'
    const found = await violationsOfPages(page, 'desktop', looksFor)
    await pages.go('Rooms')
    await pages.row(room_id).click()
    await pages.panel('A long topic').getByText('Nobody is in this room').waitFor()
    found['details of a room'] = await violations(page, looksFor)
    await page.keyboard.press('Escape')
    await pages.button('New room').click()
    const form = pages.dialog('New room')
    await form.getByLabel('Topic').and(page.locator(':focus')).waitFor()
    await form.getByLabel('Topic').fill('Twin')
    // A refused field that was hidden is in sight, and has the focus.
    await form.getByText('More: joining by number').click()
    await form.getByLabel('Custom room ID').fill(room_id)
    await form.getByText('More: joining by number').click()
    await form.getByRole('button', { name: 'Create room' }).click()
    await form.getByLabel('Custom room ID').and(page.locator(':focus')).waitFor()
    found['a form'] = await violations(page, looksFor)
    await page.keyboard.press('Escape')
    await call('nodes.remove', { name: trial })
    await call('rooms.delete', { room_ids: [room_id] })
    expect(Object.fromEntries(Object.entries(found).filter(([, some]) => some.length > 0))).toEqual({})
  })
}

/** The same on a phone, with its sheets. */
export function phoneAccessibilityStory(opened: () => ConsoleUnderTest, theme: 'light' | 'dark'): void {
  test(`axe finds nothing on any page and sheet of a phone in the ${theme} theme`, async () => {
    const { call, page } = opened()
    const pages = new ConsolePages(page)
    const looksFor = theme === 'light' ? 'everything' : 'colours'
    await call('settings.set', { console: { theme, language: 'en' } })
    const { room_id } = await call('rooms.create', { topic: 'A long topic of a room that is looked at' })
    const found = await violationsOfPages(page, 'phone', looksFor)
    await page.setViewportSize({ width: 390, height: 844 })
    await pages.go('Rooms')
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await pages.dialog('More').getByRole('link', { name: 'Settings' }).waitFor()
    found['sheet of further pages'] = await violations(page, looksFor)
    await page.keyboard.press('Escape')
    await pages.dialog('More').waitFor({ state: 'hidden' })
    await pages.row(room_id).click()
    await pages.panel('A long topic').getByText('Nobody is in this room').waitFor()
    found['sheet of a room'] = await violations(page, looksFor)
    await page.goBack()
    await pages.panel('A long topic').waitFor({ state: 'detached' })
    await pages.button('New room').click()
    await pages.dialog('New room').waitFor()
    found['form in a sheet'] = await violations(page, looksFor)
    await page.keyboard.press('Escape')
    await pages.dialog('New room').waitFor({ state: 'hidden' })
    await page.setViewportSize({ width: 1360, height: 860 })
    await call('rooms.delete', { room_ids: [room_id] })
    expect(Object.fromEntries(Object.entries(found).filter(([, some]) => some.length > 0))).toEqual({})
  })
}

/** Limits of what the sign-in page waits for, in kilobytes: the first load over a slow line. */
const firstLoad = { script: 690, style: 130 }

/** Fetches what the console's document names, and returns its kilobytes by kind. What pages load later is not named there. */
async function firstLoadOf(console: string): Promise<typeof firstLoad> {
  const sum = { script: 0, style: 0 }
  const document = await (await fetch(console)).text()
  for (const [, path = '', kind] of document.matchAll(/(?:src|href)="\.\/(assets\/[^"]+\.(js|css))"/g)) {
    const file = await fetch(`${console}/${path}`)
    expect(file.status).toBe(200)
    sum[kind === 'js' ? 'script' : 'style'] += (await file.arrayBuffer()).byteLength / 1_000
  }
  return sum
}

/** The only page that just the headless console has. */
export function signInStory(colorScheme: 'light' | 'dark'): void {
  test(`the sign-in page loads little, a wrong key is refused, the correct one in the address signs in; axe finds nothing on the sign-in page, ${colorScheme}`, async () => {
    const controller = await startHeadless({ site: siteWithoutMedia })
    const browser = await openWindows()
    try {
      const { script, style } = await firstLoadOf(controller.ready.console)
      expect(script).toBeGreaterThan(100)
      expect(script).toBeLessThan(firstLoad.script)
      expect(style).toBeGreaterThan(10)
      expect(style).toBeLessThan(firstLoad.style)
      const page = await browser.newPage({ colorScheme, locale: 'en-US' })
      await page.goto(controller.ready.console)
      await page.getByLabel('Console key').fill('not the key')
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByText('Wrong console key.').waitFor()
      expect(await violations(page, colorScheme === 'light' ? 'everything' : 'colours')).toEqual([])
      // Enters the address that a start prints into the open tab.
      const key = (await readFile(join(controller.folder, 'console.key'), 'utf8')).trim()
      await page.goto(`${controller.ready.console}/#key=${key}`)
      await page.getByRole('navigation', { name: 'Pages' }).waitFor()
      expect(page.url()).not.toContain(key)
      await page.context().close()
    } finally {
      await browser.close()
      await controller.stop()
    }
  })
}
