import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ControllerSite, openControllerSite, password } from '../support/sites/controller-site.ts'
import { violations } from '../support/axe.ts'
import { openWindows, type Windows } from '../support/chromium.ts'
import { built } from '../support/built.ts'

const builtPage = built('renderer')

describe('Accounts in the browser', () => {
  let site: ControllerSite
  let browser: Windows
  beforeAll(async () => {
    site = await openControllerSite({ nodes: [{ name: 'lab', kind: 'simulated' }] }, { consolePage: builtPage })
    const key = await site.key()
    await site.call(key, 'overview.dismiss_welcome', {})
    await site.call(key, 'rooms.create', { topic: 'Morning' })
    browser = await openWindows()
  })
  afterAll(async () => {
    await browser.close()
    await site.remove()
  })

  /** Opens the console in a new browser profile. */
  async function visit(locale: string, colorScheme: 'light' | 'dark', fragment = ''): Promise<Page> {
    const page = await browser.newPage({
      locale,
      colorScheme,
      viewport: { width: 1280, height: 800 },
      ignoreHTTPSErrors: true,
    })
    page.setDefaultTimeout(20_000)
    await page.goto(`${site.url}/${fragment}`)
    return page
  }

  async function signIn(page: Page, name: string, secret: string): Promise<void> {
    await page.locator('input[autocomplete="username"]').fill(name)
    await page.locator('input[autocomplete="current-password"]').fill(secret)
    await page.keyboard.press('Enter')
  }

  test('The holder of the key adds a viewer, who signs in, sees the pages of a viewer, creates a token and signs out', async () => {
    const admin = await visit('en-US', 'light', `#key=${await site.key()}`)
    await admin.getByRole('link', { name: 'Settings', exact: true }).click()
    await admin.getByRole('link', { name: 'Accounts', exact: true }).click()
    await admin.getByRole('button', { name: 'Add account…' }).click()
    const dialog = admin.getByRole('dialog')
    await dialog.getByLabel('Name', { exact: true }).fill('Root')
    await dialog.getByLabel('Password', { exact: true }).fill(password)
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await admin.getByRole('row').filter({ hasText: 'Root' }).filter({ hasText: 'Admin' }).waitFor()
    expect(await violations(admin)).toEqual([])
    await site.create('Vera', 'viewer')
    await admin.getByRole('row').filter({ hasText: 'Vera' }).waitFor()
    await admin.close()

    const page = await visit('en-US', 'light')
    await page.getByRole('button', { name: 'Use the console key instead' }).waitFor()
    expect(await violations(page)).toEqual([])
    await signIn(page, 'vera', 'not her password')
    await page.getByText('Wrong name or password.').waitFor()
    await signIn(page, 'vera', password)
    await page.getByRole('link', { name: /Vera/ }).waitFor()
    expect(await page.getByRole('navigation').getByRole('link', { name: 'Settings' }).count()).toBe(0)
    await page.getByRole('link', { name: 'Rooms', exact: true }).first().click()
    await page.getByRole('row').filter({ hasText: 'Morning' }).waitFor()
    expect(await page.getByRole('button', { name: /Create room/ }).count()).toBe(0)
    await page.goto(`${site.url}/#/settings/accounts`)
    await page.getByText('Your role (Viewer) has no access to this page.').waitFor()
    await page.getByRole('link', { name: /Vera/ }).click()
    await page.getByRole('button', { name: 'Create token…' }).click()
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('Report')
    await page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true }).click()
    const token = await page.getByRole('dialog').getByText(/^rdp_/).innerText()
    expect(await site.call(token.trim(), 'account.me', {})).toMatchObject({ name: 'Vera', role: 'viewer' })
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('row').filter({ hasText: 'Report' }).waitFor()
    expect(await violations(page)).toEqual([])
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.locator('input[autocomplete="username"]').waitFor()
    await page.close()
  })

  test('In Chinese and dark mode an admin signs in, sees the accounts, and is signed out as soon as another admin disables the account', async () => {
    const { id } = await site.create('安娜', 'admin')
    const page = await visit('zh-CN', 'dark')
    await page.getByRole('button', { name: '改用控制台密钥' }).waitFor()
    expect(await violations(page, 'colours')).toEqual([])
    await signIn(page, '安娜', password)
    await page.getByRole('link', { name: /安娜/ }).click()
    await page.getByRole('heading', { name: '访问令牌' }).waitFor()
    expect(await violations(page, 'colours')).toEqual([])
    await page.goto(`${site.url}/#/settings/accounts`)
    await page.getByRole('row').filter({ hasText: '安娜' }).waitFor()
    expect(await violations(page)).toEqual([])
    await site.call(await site.key(), 'accounts.update', { id, enabled: false })
    await page.getByText('会话已结束，请重新登录。').waitFor()
    await page.close()
  })

  test('A new device downloads the certificate to trust, with its fingerprint', async () => {
    const key = await site.key()
    await site.call(key, 'settings.set', { tls: { mode: 'self-signed' } })
    const page = await visit('en-US', 'light', '#/certificate')
    await page.getByRole('heading', { name: 'iPhone and iPad' }).waitFor()
    expect(await violations(page)).toEqual([])
    const info = await page.evaluate<{ fingerprint: string }>(`fetch('/certificate').then((answer) => answer.json())`)
    await page.getByText(info.fingerprint).waitFor()
    // An admin reads the same in the settings.
    const read = `fetch('/rpc/tls.info', { method: 'POST', headers: { authorization: 'Bearer ${key}' } }).then((answer) => answer.json())`
    expect(await page.evaluate(read)).toMatchObject({ value: { trust_fingerprint: info.fingerprint } })
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download roomdesk.crt' }).click(),
    ])
    expect(file.suggestedFilename()).toBe('roomdesk.crt')
    await page.close()
  })
})
