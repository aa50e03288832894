import { join } from 'node:path'

import type { Page } from 'playwright-core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openControllerSite, password } from '../support/sites/controller-site.ts'
import { violations } from '../support/axe.ts'
import { openWindows } from '../support/chromium.ts'
import { lookAt, sizes } from '../e2e/surfaces/surface-walk.ts'
import { halfOf } from '../support/page-session.ts'
import { keepHalf } from '../e2e/keep-half.ts'
import { built } from '../support/built.ts'
import { shared } from '../support/fixtures.ts'

const minute = 60_000
const builtPage = built('renderer')
/** Folder for screenshots; empty: none. */
const shots = process.env.ROOMDESK_SHOTS ?? ''

describe('The console of root, half an hour after she signed in', () => {
  let ahead = 0
  const problems: string[] = []
  const found: Record<string, string[]> = {}

  const site = shared(async () => {
    const credentials = [{ label: 'Lobby', access_key: 'lobby', secret_key: 'the secret of the lobby' }]
    return await openControllerSite({ credentials }, { accountClock: () => Date.now() + ahead, consolePage: builtPage })
  })
  const windows = shared(async () => {
    const windows = await openWindows()
    await site().create('root', 'admin')
    await site().call(await site().key(), 'overview.dismiss_welcome', {})
    return windows
  })

  /** Opens the account page of a session of its own, which began half an hour ago. */
  async function openAccount(): Promise<Page> {
    const context = await windows().newContext({ viewport: { width: 1280, height: 860 } })
    onTestFinished(() => context.close())
    const page = await context.newPage()
    page.on('pageerror', (error) => problems.push(error.message))
    const cookie = await site().signIn('root')
    const [name = '', value = ''] = cookie.split('=')
    await context.addCookies([{ name, value, url: site().url }])
    await keepHalf(page, halfOf(cookie))
    ahead += 30 * minute
    await page.goto(`${site().url}/#/account`)
    return page
  }

  /** Checks and photographs the dialog in the current theme and language. */
  async function look(page: Page, name: string): Promise<void> {
    expect(await violations(page)).toEqual([])
    if (shots !== '') await page.screenshot({ path: join(shots, `${name}.png`) })
  }

  async function setLook(page: Page, theme: 'light' | 'dark', language: 'en' | 'zh'): Promise<void> {
    await site().call(await site().key(), 'settings.set', { console: { theme, language } })
    await page.locator(`html[lang^=${language}]`).waitFor({ state: 'attached' })
  }

  test('She makes a read-only token: the dialog asks for her password once, by keyboard, and the token is shown', async () => {
    const page = await openAccount()
    onTestFinished(async () => {
      const console = { theme: 'light', language: 'en' } as const
      await site().call(await site().key(), 'settings.set', { console })
    })
    await page.getByRole('button', { name: 'Create token…' }).click()
    const making = page.getByRole('dialog', { name: 'Create an access token' })
    await making.getByLabel('Name', { exact: true }).fill('Nightly')
    expect(await making.getByRole('checkbox', { name: 'Rooms: view' }).isChecked()).toBe(true)
    expect(await making.getByRole('checkbox', { name: 'Rooms: change' }).isChecked()).toBe(false)
    await look(page, 'token-en-light')
    await page.keyboard.press('Enter')
    const asked = page.getByRole('dialog', { name: 'Enter your password' })
    const field = asked.locator('input[autocomplete=current-password]')
    await field.waitFor()
    await page.locator('input[autocomplete=current-password]:focus').waitFor()
    await page.keyboard.type('not my password')
    await page.keyboard.press('Enter')
    await asked.getByText('Wrong password.').waitFor()
    await look(page, 'password-en-light')
    for (const size of ['desktop', 'phone'] as const) {
      await page.setViewportSize(sizes[size])
      await lookAt(page, 'PasswordHost FormDialog', size, found)
    }
    expect(Object.values(found).flat()).toEqual([])
    await page.setViewportSize({ width: 1280, height: 860 })
    await setLook(page, 'dark', 'zh')
    await page.getByRole('dialog', { name: '请输入您的密码' }).waitFor()
    await page.locator('input[autocomplete=current-password]').last().press('Enter')
    await page.getByText('密码不正确。').waitFor()
    await look(page, 'password-zh-dark')
    await setLook(page, 'light', 'en')
    await field.fill(password)
    await page.keyboard.press('Enter')
    const shown = page.getByRole('dialog', { name: 'The new access token' })
    await shown.getByText(/rdp_/).waitFor()
    const [token] = await site().call(await site().key(), 'accounts.tokens', {})
    expect(token?.scopes.every((scope) => scope.endsWith(':read'))).toBe(true)
    await shown.getByRole('button', { name: 'Done' }).click()
    await page.getByText(/^Reads \d+ areas$/).waitFor()
    await look(page, 'account-en-light')
    await setLook(page, 'dark', 'zh')
    await look(page, 'account-zh-dark')
    await setLook(page, 'light', 'en')
    expect(problems).toEqual([])
  })

  test('She closes the dialog: no token is made, and the page says so', async () => {
    const page = await openAccount()
    const tokens = async () => site().call(await site().key(), 'accounts.tokens', {})
    const before = await tokens()
    await page.getByRole('button', { name: 'Create token…' }).click()
    await page
      .getByRole('dialog', { name: 'Create an access token' })
      .getByLabel('Name', { exact: true })
      .fill('Second')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Enter your password' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('Nothing was changed: this action requires your password.').waitFor()
    expect(await tokens()).toEqual(before)
  })
})
