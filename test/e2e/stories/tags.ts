import { expect, test } from 'vitest'
import { violations } from '../../support/axe.ts'
import type { ConsoleUnderTest } from '../../support/sites/console-site.ts'
import { ConsolePages } from '../console-pages.ts'

/** Tags: given by keyboard, filtered by, changed together and undone, found by the search. */
export function tagStories(opened: () => ConsoleUnderTest): void {
  test('rooms are tagged by keyboard, filtered by tags in the address, changed together, undone and found', async () => {
    const { page } = opened()
    const pages = new ConsolePages(page)
    const { room_id } = await opened().call('rooms.create', { topic: 'Assembly' })
    const others = [
      (await opened().call('rooms.create', { topic: 'Boiler house', tags: ['Basement', 'North wing'] })).room_id,
      (await opened().call('rooms.create', { topic: 'Attic' })).room_id,
    ]
    await pages.go('Rooms')
    await pages.row('Assembly').click()
    const panel = pages.panel('Assembly')
    await panel.getByRole('button', { name: 'Add tags' }).click()
    /** Types the beginning of a tag, and takes the suggestion by keyboard. */
    const take = async (text: string, tag: string): Promise<void> => {
      await page.keyboard.type(text)
      // The list of another field may still be closing.
      const list = page.locator(`[id="${await page.locator(':focus').getAttribute('aria-controls')}"]`)
      const option = list.getByRole('option', { name: new RegExp(`^${tag}`) })
      await option.waitFor()
      const isActive = async (): Promise<boolean> => {
        const active = await page.locator(':focus').getAttribute('aria-activedescendant')
        return active !== '' && active === (await option.getAttribute('id'))
      }
      if (text !== tag && !(await isActive())) await page.keyboard.press('ArrowDown')
      await expect.poll(isActive).toBe(true)
      await page.keyboard.press('Enter')
      await expect.poll(() => page.locator(':focus').inputValue()).toBe('')
    }
    // A known tag is suggested after its first letters; another is typed.
    await take('nor', 'North wing')
    await take('Weekly', 'Weekly')
    await page.keyboard.press('Escape')
    // Esc with unsaved tags asks; the panel stays.
    await page.keyboard.press('Escape')
    await pages.dialog('Discard the changes?').getByRole('button', { name: 'Cancel' }).click()
    await panel.getByRole('button', { name: 'Close', exact: true }).first().click()
    await panel.waitFor({ state: 'detached' })
    // Unsaved tags are still there.
    await pages.row('Assembly').click()
    await panel.getByRole('button', { name: 'Save', exact: true }).click()
    await panel.getByRole('button', { name: /^Weekly/ }).waitFor()
    expect(await violations(page)).toEqual([])
    expect((await opened().call('rooms.get', { room_id })).room.tags).toEqual(['North wing', 'Weekly'])
    await page.keyboard.press('Escape')

    await pages
      .row('Boiler house')
      .getByRole('button', { name: /^North wing/ })
      .click()
    await pages.row('Attic').waitFor({ state: 'detached' })
    expect(page.url()).toContain('tag=North')
    await page.getByRole('combobox', { name: 'Only rows with these tags' }).focus()
    await take('week', 'Weekly')
    await pages.row('Boiler house').waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
    await page.reload()
    await pages.row('Assembly').waitFor()
    expect(await pages.row('Boiler house').count()).toBe(0)
    await page.goto(`${page.url().split('#')[0]}#/rooms`)
    await pages.row('Attic').waitFor()

    for (const topic of ['Assembly', 'Boiler house']) await pages.row(topic).getByRole('checkbox').check()
    await pages.button('Tags…').click()
    const dialog = pages.dialog('Tags of 2 rooms')
    await dialog.getByRole('combobox', { name: 'Add' }).focus()
    await take('Listed', 'Listed')
    await page.keyboard.press('Tab')
    await dialog.getByRole('combobox', { name: 'Remove' }).and(page.locator(':focus')).waitFor()
    await take('north', 'North wing')
    await page.keyboard.press('Escape')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Tags of 2 rooms changed').waitFor()
    const tagsOf = async (): Promise<string[][]> =>
      await Promise.all(
        [room_id, ...others].map(async (id) => (await opened().call('rooms.get', { room_id: id })).room.tags),
      )
    expect(await tagsOf()).toEqual([['Listed', 'Weekly'], ['Basement', 'Listed'], []])
    await pages.button('Undo').click()
    await expect.poll(tagsOf).toEqual([['North wing', 'Weekly'], ['Basement', 'North wing'], []])

    await page.keyboard.press('Control+k')
    await pages.dialog('Find anything').getByRole('combobox').fill('north w')
    await pages
      .dialog('Find anything')
      .getByRole('option', { name: /North wing.*2 rooms/ })
      .click()
    await pages.dialog('Find anything').waitFor({ state: 'hidden' })
    await pages.row('Attic').waitFor({ state: 'detached' })
    await pages.row('Boiler house').waitFor()
    await opened().call('rooms.delete', { room_ids: [room_id, ...others] })
    await page.goto(`${page.url().split('#')[0]}#/overview`)
    await pages.heading('Overview').waitFor()
  })
}
