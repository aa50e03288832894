import { expect, test } from 'vitest'
import { violations } from '../../support/axe.ts'
import type { ConsoleUnderTest } from '../../support/sites/console-site.ts'
import { ConsolePages } from '../console-pages.ts'

/** Switching between mouse and keyboard. */
export function keyStories(opened: () => ConsoleUnderTest): void {
  test('a dialog opened by a click or a menu focuses its first field; each Esc closes one thing, the uppermost first', async () => {
    const { call, page } = opened()
    const pages = new ConsolePages(page)
    const focused = page.locator(':focus')
    const { room_id } = await call('rooms.create', { topic: 'Keys and mouse' })
    await call('credentials.create', { label: 'Keyring' })

    await pages.go('Rooms')
    await pages.row(room_id).click()
    const panel = pages.panel('Keys and mouse')
    await panel.getByRole('button', { name: 'Edit' }).click()
    const form = pages.dialog(`Edit room ${room_id}`)
    await form.getByLabel('Topic').and(focused).waitFor()
    await form.getByLabel('Joining by room number').click()
    const list = page.locator('select:open')
    await list.waitFor()
    await page.keyboard.press('Escape')
    await list.waitFor({ state: 'detached' })
    expect(await form.isVisible()).toBe(true)
    // The focus is still in the select, whose list is closed.
    await page.keyboard.press('Escape')
    await form.waitFor({ state: 'hidden' })
    expect(await panel.isVisible()).toBe(true)
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })

    await pages.go('Credentials')
    const dots = pages.row('Keyring').getByRole('button', { name: /^More actions/ })
    await dots.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem').first().and(focused).waitFor()
    await page.keyboard.press('Escape')
    await dots.and(focused).waitFor()
    await pages.actOnRow('Keyring', 'Edit')
    const label = pages.dialog('Edit credential').getByLabel('Label')
    await label.and(focused).waitFor()
    await page.keyboard.press('Escape')
    await label.waitFor({ state: 'hidden' })
    await call('credentials.delete', { access_key: await keyOf(opened(), 'Keyring') })
    await call('rooms.delete', { room_ids: [room_id] })
  })

  test('favourite rooms are marked in row and panel, survive a reload, and are listed alone', async () => {
    const { call, page } = opened()
    const pages = new ConsolePages(page)
    const [loved, other] = [
      await call('rooms.create', { topic: 'Loved' }),
      await call('rooms.create', { topic: 'Others' }),
    ]
    await pages.go('Rooms')
    await pages.row(loved.room_id).getByRole('button', { name: 'Favourite: Loved' }).click()
    await page.reload()
    await pages.row(other.room_id).waitFor()
    await pages.button('Favourites').click()
    await pages.row(other.room_id).waitFor({ state: 'detached' })
    expect(await violations(page)).toEqual([])
    await pages.row(loved.room_id).click()
    const star = pages.panel('Loved').getByRole('button', { name: 'Favourite: Loved', pressed: true })
    await star.press('Enter')
    await page.getByText('No favourites yet').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await pages.row(other.room_id).waitFor()
    await call('rooms.delete', { room_ids: [loved.room_id, other.room_id] })
  })

  test('text typed right after Ctrl+K goes into the search, even if its code loads late, and opens no other page', async () => {
    const { page } = opened()
    const pages = new ConsolePages(page)
    await pages.go('Rooms')
    await page.reload()
    await pages.heading('Rooms').waitFor()
    const typed = Promise.withResolvers<undefined>()
    await page.route('**/FindPalette-*.js', async (route) => {
      await typed.promise
      await route.continue()
    })
    await page.keyboard.press('Control+k')
    // "g d" opens the devices where nothing is searched for.
    await page.keyboard.type('g dx')
    await page.keyboard.press('Backspace')
    typed.resolve(undefined)
    const field = page.getByRole('combobox', { name: 'Find rooms, people' }).and(page.locator(':focus'))
    await field.waitFor()
    expect(await field.inputValue()).toBe('g d')
    expect(await page.evaluate('location.hash')).toBe('#/rooms')
    await page.keyboard.press('Escape')
    await pages.dialog('Find anything').waitFor({ state: 'hidden' })
    await page.unroute('**/FindPalette-*.js')
  })

  test('Ctrl+K finds a room, a setting and an action by keyboard alone, and suggests the pages opened last', async () => {
    const { call, page } = opened()
    const pages = new ConsolePages(page)
    const { room_id } = await call('rooms.create', { topic: 'Café Zürich' })
    await call('overview.dismiss_welcome', {})
    const typed = page.getByRole('combobox', { name: 'Find rooms, people' }).and(page.locator(':focus'))
    const chosen = page.getByRole('option', { selected: true })
    const find = async (text: string, first: string): Promise<void> => {
      await page.keyboard.press('Control+k')
      await typed.waitFor()
      await page.keyboard.type(text)
      await chosen.filter({ hasText: first }).waitFor()
    }
    await find('cafe zur', 'Café Zürich')
    expect(await chosen.locator('mark').allInnerTexts()).toEqual(['Café', 'Zür'])
    expect(await violations(page)).toEqual([])
    await page.keyboard.press('Enter')
    await pages.panel('Café Zürich').waitFor()

    await find('megabytes', 'Megabytes kept')
    await page.keyboard.press('Enter')
    await page.getByLabel('Megabytes kept').and(page.locator(':focus')).waitFor()

    // Events are searched as they are read, and nothing that they store says "created".
    await page.keyboard.press('Control+k')
    await typed.waitFor()
    await page.keyboard.type('created Zürich')
    await page.getByRole('option', { name: /created.*Café Zürich|Café Zürich.*created/ }).waitFor()
    await page.getByRole('option', { name: 'Search all events for “created Zürich”' }).click()
    await pages.heading('Events').waitFor()
    expect(await page.evaluate('location.hash')).toBe('#/events?text=created+Z%C3%BCrich')

    await find('', 'Search all events')
    await page.keyboard.press('ArrowDown')
    await chosen.filter({ hasText: 'Megabytes kept' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await chosen.filter({ hasText: 'Café Zürich' }).waitFor()
    await page.keyboard.press('End')
    await chosen.filter({ hasText: 'Help' }).waitFor()
    await page.keyboard.press('Escape')
    await pages.dialog('Find anything').waitFor({ state: 'hidden' })

    await find('add dev', 'Add device')
    await page.keyboard.press('Enter')
    await pages.dialog('Add device').waitFor()
    await page.keyboard.press('Escape')
    await call('rooms.delete', { room_ids: [room_id] })
  })
}

async function keyOf({ call }: ConsoleUnderTest, wanted: string): Promise<string> {
  const found = (await call('credentials.list')).find(({ label }) => label === wanted)
  return found?.access_key ?? ''
}
