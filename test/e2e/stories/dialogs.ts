import { expect, test } from 'vitest'
import { violations } from '../../support/axe.ts'
import type { ConsoleUnderTest } from '../../support/sites/console-site.ts'
import { ConsolePages } from '../console-pages.ts'

/** Forms and dialogs that no other story opens: axe finds nothing in any of them in this theme. */
export function dialogStory(opened: () => ConsoleUnderTest, theme: 'light' | 'dark'): void {
  test(`axe finds nothing in the dialogs for accounts, tokens, links, views, rooms and devices in the ${theme} theme`, async () => {
    const { call, page } = opened()
    const pages = new ConsolePages(page)
    await call('settings.set', { console: { theme, language: 'en' } })
    await call('overview.dismiss_welcome', {})
    await page.reload()
    await expect.poll(() => page.evaluate(`document.documentElement.classList.contains('dark')`)).toBe(theme === 'dark')
    const { room_id } = await call('rooms.create', { topic: 'A room with dialogs' })
    // No camera answers there, so it stays lost.
    const camera = { roomId: room_id, userId: 'porch', userName: 'Porch', userAddress: 'rtsp://127.0.0.1:9/porch' }
    await call('devices.create', camera)
    const account = await call('accounts.create', {
      name: 'Vera',
      role: 'operator',
      password: 'a long password of hers',
    })
    const found: Record<string, string[]> = {}
    const look = async (name: string, looksFor: 'everything' | 'colours' = 'everything'): Promise<void> => {
      await pages.dialog(name).waitFor()
      found[name] = await violations(page, looksFor)
    }
    const close = async (name: string): Promise<void> => {
      await page.keyboard.press('Escape')
      await pages.dialog(name).waitFor({ state: 'hidden' })
    }

    await pages.go('Settings')
    await page.getByRole('link', { name: 'Accounts', exact: true }).click()
    await pages.button('Add account…').click()
    // Includes its error messages.
    await pages.dialog('Add an account').getByRole('button', { name: 'Add', exact: true }).click()
    await look('Add an account')
    await close('Add an account')
    for (const [act, title] of [
      ['Change name or role…', 'Change Vera'],
      ['New password…', 'A new password for Vera'],
      ['Sessions and tokens…', 'Sessions and tokens of Vera'],
    ] as const) {
      await pages.actOnRow('Vera', act)
      await look(title)
      if (act !== 'Sessions and tokens…') await close(title)
    }
    await pages.button('Create token…').click()
    await look('Create an access token')
    const token = pages.dialog('Create an access token')
    await token.getByLabel('Name', { exact: true }).fill('Report')
    await token.getByRole('button', { name: 'Create', exact: true }).click()
    await look('The new access token')
    await close('The new access token')
    await close('Sessions and tokens of Vera')

    await pages.go('Rooms')
    await pages.row(room_id).click()
    const panel = pages.panel('A room with dialogs')
    await panel.getByRole('button', { name: 'Invite', exact: true }).click()
    await look('Invite people to')
    await close('Invite people to')
    await panel.getByRole('button', { name: 'Edit', exact: true }).click()
    await look(`Edit room ${room_id}`)
    await close(`Edit room ${room_id}`)

    await pages.go('Devices')
    await pages.actOnRow('Porch', 'Edit')
    await look('Edit Porch')
    await close('Edit Porch')

    await page.getByRole('link', { name: 'Wall' }).click()
    await pages.button('Choose pictures').first().click()
    await pages.dialog('Choose pictures').getByText('A room with dialogs', { exact: true }).click()
    await look('Choose pictures')
    await pages.dialog('Choose pictures').getByRole('button', { name: 'Done' }).click()
    await pages.button('Save').click()
    await look('Save as a new view')
    await close('Save as a new view')

    await call('accounts.delete', { id: account.id })
    await call('rooms.delete', { room_ids: [room_id] })
    expect(Object.fromEntries(Object.entries(found).filter(([, some]) => some.length > 0))).toEqual({})
  })
}
