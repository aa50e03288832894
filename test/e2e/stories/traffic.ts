import { expect, test } from 'vitest'
import { ApiClient } from '../../support/api-client.ts'
import { ConsolePages } from '../console-pages.ts'
import type { ConsoleUnderTest } from '../../support/sites/console-site.ts'

/** Requests that the operator sees and sends. */
export function trafficStories(opened: () => ConsoleUnderTest): void {
  test('a refused client learns little; the operator sees at once who it was, and why', async () => {
    const { page, call } = opened()
    const pages = new ConsolePages(page)
    const { credential } = await call('credentials.create', { label: 'Mistyped' })
    await pages.go('Activity')
    const client = new ApiClient(await opened().urls(), { access_key: credential.access_key, secret_key: 'wrong' })
    const answer = await client.authenticate()
    expect(answer).toMatchObject({ ret: 401 })
    expect(answer.msg).not.toMatch(/secret|match/)

    // Others were refused before.
    await pages.search.fill(credential.access_key)
    const refused = pages.row('authenticate').filter({ hasText: '401' })
    await expect.poll(() => refused.count()).toBe(1)
    await refused.click()
    const panel = pages.panel('authenticate')
    await panel.getByText('The digest does not match').waitFor()
    await panel.getByText('Mistyped').first().waitFor()
    await panel.getByText('[redacted]').waitFor()
    await page.keyboard.press('Escape')
  })

  test('the API tester sends the same as a client', async () => {
    const { page } = opened()
    const pages = new ConsolePages(page)
    await pages.go('API tester')
    await page.getByRole('main').getByRole('button', { name: /^Send/ }).first().click()
    await page.getByText('ret 0: success').first().waitFor()
    await page.getByText('GET /rtc/auth/valid?access_key=').first().waitFor()
  })
}
