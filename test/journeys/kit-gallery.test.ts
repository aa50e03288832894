import { join } from 'node:path'
import vue from '@vitejs/plugin-vue'
import type { Page } from 'playwright-core'
import { createServer } from 'vite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { violations } from '../support/axe.ts'
import { openWindows, type Windows } from '../support/chromium.ts'
import { utilities } from '../../vite.config.ts'

const root = join(import.meta.dirname, '../../renderer/kit')
let windows: Windows
let page: Page
let stop: () => Promise<void>

beforeAll(async () => {
  const server = await createServer({
    configFile: false,
    root,
    logLevel: 'error',
    plugins: [utilities(), vue()],
    cacheDir: join(root, '../../node_modules/.cache/kit-gallery'),
    server: { host: '127.0.0.1', port: 0, hmr: false, watch: null, fs: { strict: false } },
  })
  await server.listen()
  stop = () => server.close()
  windows = await openWindows()
  page = await windows.newPage({ viewport: { width: 1_000, height: 800 }, reducedMotion: 'reduce' })
  await page.goto(`${server.resolvedUrls?.local[0] ?? ''}gallery/index.html`)
  await page.getByRole('heading', { level: 1, name: 'Kit' }).waitFor({ timeout: 60_000 })
  // Without hot reload the sheet has the utilities of those components only that were served before it.
  await page.reload()
  await page.getByRole('heading', { level: 1, name: 'Kit' }).waitFor()
})

afterAll(async () => {
  await windows.close()
  await stop()
})

test('axe finds nothing in any part of the kit, in both themes and all languages', async () => {
  const found: Record<string, string[]> = {}
  for (const language of ['en', 'zh', 'de']) {
    await page.getByRole('combobox', { name: 'Language' }).selectOption(language)
    for (const dark of [false, true]) {
      await page.getByRole('checkbox', { name: 'Dark' }).setChecked(dark)
      found[`${language}, dark: ${dark}`] = await violations(page)
    }
  }
  await page.getByRole('combobox', { name: 'Language' }).selectOption('en')
  expect(Object.fromEntries(Object.entries(found).filter(([, some]) => some.length > 0))).toEqual({})
})

test('a dialog takes the focus and returns it; Esc closes one thing at a time', async () => {
  const opener = page.getByRole('button', { name: 'FormDialog' })
  await opener.click()
  const dialog = page.getByRole('dialog', { name: 'Name of the room' })
  await dialog.getByRole('textbox').and(page.locator(':focus')).waitFor()
  expect(await violations(page)).toEqual([])
  await dialog.getByRole('combobox').click()
  const list = page.locator('select:open')
  await list.waitFor()
  await page.keyboard.press('Escape')
  await list.waitFor({ state: 'detached' })
  expect(await dialog.isVisible()).toBe(true)
  await dialog.getByRole('button', { name: 'Guests see it before they join.' }).click()
  await page.getByRole('menuitem', { name: 'Save changes' }).and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('menu').waitFor({ state: 'hidden' })
  expect(await dialog.isVisible()).toBe(true)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await opener.and(page.locator(':focus')).waitFor()
})

test('a menu is used by keyboard alone', async () => {
  const opener = page.getByRole('button', { name: 'Name of the room' })
  await opener.focus()
  await page.keyboard.press('Enter')
  const focused = page.locator(':focus')
  await page.getByRole('menuitem', { name: 'Save changes' }).and(focused).waitFor()
  await page.keyboard.press('End')
  await page.getByRole('menuitem', { name: 'Delete' }).and(focused).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('menu').waitFor({ state: 'hidden' })
  await opener.and(focused).waitFor()
  await page.getByRole('alert').getByText('Council chamber').waitFor()
})
