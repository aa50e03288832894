import { expect, test } from 'vitest'
import { violations } from '../../support/axe.ts'
import type { ConsoleUnderTest } from '../../support/sites/console-site.ts'
import { ConsolePages } from '../console-pages.ts'

/** The docs in the console. */
export function helpStories(opened: () => ConsoleUnderTest): void {
  test('help: Ctrl+K finds a heading of the docs, its code can be copied, links lead to other pages; axe finds nothing', async () => {
    const { call, page } = opened()
    const pages = new ConsolePages(page)
    const focused = page.locator(':focus')
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Find rooms, people' }).and(focused).waitFor()
    await page.keyboard.type('more cores')
    await page.getByRole('option', { selected: true }).filter({ hasText: 'More cores: more nodes' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'More cores: more nodes' }).and(focused).waitFor()
    expect(await page.evaluate('location.hash')).toBe('#/help/operate/install#more-cores-more-nodes')

    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'Copy: json' }).first().click()
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toContain('"name": "This machine 2"')

    for (const theme of ['light', 'dark'] as const) {
      await call('settings.set', { console: { theme } })
      await expect
        .poll(() => page.evaluate(`document.documentElement.classList.contains('dark')`))
        .toBe(theme === 'dark')
      expect(await violations(page, theme === 'light' ? 'everything' : 'colours')).toEqual([])
    }
    await call('settings.set', { console: { theme: 'light' } })

    await page.getByRole('article').getByRole('link', { name: 'Capacity and failures' }).first().click()
    await pages.heading('Capacity and failures').and(focused).waitFor()
    await page
      .getByRole('navigation', { name: 'On this page' })
      .getByRole('link', { name: 'When a part fails' })
      .click()
    await page.getByRole('heading', { name: 'When a part fails' }).and(focused).waitFor()
    await page.getByRole('link', { name: /^Next / }).click()
    await pages.heading('Metrics and alerts').and(focused).waitFor()
  })

  test('help: a "?" at a field shows its docs beside a dialog, which keeps what was typed', async () => {
    const { page } = opened()
    const pages = new ConsolePages(page)
    const focused = page.locator(':focus')
    await pages.go('Devices')
    await pages.button('Add device').first().click()
    const dialog = pages.dialog('Add device')
    await dialog.getByLabel('RTSP address').fill('rtsp://192.0.2.7/live')
    const link = dialog.getByRole('link', { name: 'Help: RTSP address' })
    await link.click()
    const drawer = pages.dialog('Help')
    await drawer.getByRole('heading', { name: 'The address' }).and(focused).waitFor()
    expect(await violations(page)).toEqual([])
    await drawer.getByRole('link', { name: 'createOutgoingUser' }).click()
    await drawer.getByRole('heading', { name: 'Calling the APIs' }).and(focused).waitFor()
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'hidden' })
    await link.and(focused).waitFor()
    expect(await dialog.getByLabel('RTSP address').inputValue()).toBe('rtsp://192.0.2.7/live')
    await dialog.getByLabel('RTSP address').fill('')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })

    await pages.go('Settings')
    await page.getByRole('link', { name: 'Media', exact: true }).click()
    await page.getByRole('link', { name: 'Help: Permitted camera networks' }).click()
    await drawer.getByRole('heading', { name: 'Which addresses are called' }).and(focused).waitFor()
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'hidden' })
  })

  test('help: an operation of the reference is tried at once; procedures say which role they need', async () => {
    const { page } = opened()
    const pages = new ConsolePages(page)
    await page.evaluate(`location.hash = '#/help/api/authenticate'`)
    await page.getByText('/rtc/auth/valid', { exact: true }).waitFor()
    await page.getByText('Result codes (ret)').waitFor()
    expect(await violations(page)).toEqual([])
    await page.getByRole('link', { name: 'Try it' }).click()
    await pages.heading('API tester').waitFor()
    await pages.button('Send').click()
    await page.getByText('ret 0: success').waitFor()
    await page.getByRole('link', { name: 'Reference' }).click()
    await pages.heading('API operations').waitFor()

    await page.getByRole('link', { name: 'Console procedures' }).click()
    await page.getByLabel('Search procedures').fill('wall front')
    await page.getByText('wall.bring', { exact: true }).click()
    await page.getByText('wall:write', { exact: true }).waitFor()
    await page.getByText('seconds?: number  // 5 to 600, default 30').waitFor()
    expect(await violations(page)).toEqual([])
  })

  test('help: after an update a dot leads to what is new, once', async () => {
    const { call, page } = opened()
    const pages = new ConsolePages(page)
    const { version } = await call('overview.get')
    const help = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Help' })
    await page.evaluate(`localStorage.setItem('roomdesk.version', '0.0.1')`)
    await page.reload()
    await page.getByRole('link', { name: `What is new in ${version}` }).click()
    await pages.heading('What is new').waitFor()
    await page.getByRole('heading', { level: 2, name: version }).waitFor()
    await help.waitFor()
    expect(await violations(page)).toEqual([])
    await page.reload()
    await help.waitFor()
  })

  test('help: on a phone a wide table scrolls by itself, and the Chinese console says that the docs are in English', async () => {
    const { call, page } = opened()
    const before = page.viewportSize()
    await page.setViewportSize({ width: 390, height: 844 })
    await page.evaluate(`location.hash = '#/help/operate/scale'`)
    await new ConsolePages(page).heading('Capacity and failures').waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    const wide = `(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)(document.querySelector('article .table'))`
    expect(await page.evaluate(wide)).toBe(true)
    await call('settings.set', { console: { language: 'zh' } })
    await page.getByText('文档仅有英文版').waitFor()
    await call('settings.set', { console: { language: 'en' } })
    await page.setViewportSize(before ?? { width: 1360, height: 860 })
  })
}
