import { describe, expect, test } from 'vitest'
import { openWindows } from '../support/chromium.ts'
import { openControllerSite } from '../support/sites/controller-site.ts'
import { built } from '../support/built.ts'
import { shared } from '../support/fixtures.ts'

const builtPage = built('renderer')

describe('A browser that signed in with the console key', () => {
  let ahead = 0

  const site = shared(async () => {
    const credentials = [{ label: 'Lobby', access_key: 'lobby', secret_key: 'the secret of the lobby' }]
    return await openControllerSite({ credentials }, { accountClock: () => Date.now() + ahead, consolePage: builtPage })
  })
  const windows = shared(async () => {
    const windows = await openWindows()
    await site().call(await site().key(), 'overview.dismiss_welcome', {})
    return windows
  })

  test('survives a reload and a new tab, and asks for the key half an hour later; a new key is shown as a file', async () => {
    const key = await site().key()
    const context = await windows().newContext({ viewport: { width: 1280, height: 860 }, locale: 'en-US' })
    const page = await context.newPage()
    await page.goto(`${site().url}/#key=${key}`)
    await page.getByRole('navigation').first().waitFor()
    await page.reload()
    await page.getByRole('navigation').first().waitFor()
    const tab = await context.newPage()
    await tab.goto(`${site().url}/#/rooms`)
    await tab.getByRole('navigation').first().waitFor()
    await tab.close()

    ahead = 30 * 60_000
    await page.goto(`${site().url}/#/settings/console`)
    const replace = async (): Promise<void> => {
      await page.getByRole('button', { name: 'Replace the key…' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Replace the key…' }).click()
    }
    await replace()
    const asked = page.getByRole('dialog', { name: 'Enter the console key' })
    await asked.locator('input[type=password]').fill('not the key, which has other characters')
    await page.keyboard.press('Enter')
    await asked.getByText('wrong', { exact: false }).first().waitFor()
    expect(await site().key()).toBe(key)
    await asked.locator('input[type=password]').fill(key)
    await page.keyboard.press('Enter')
    // Every session of the old key ends.
    await page.getByLabel('Console key').first().waitFor()
    // The dialog's field has the same label as that of the sign-in page.
    await expect.poll(() => site().key()).not.toBe(key)
    const made = await site().key()
    expect(await page.content()).not.toContain(made)
  })
})
