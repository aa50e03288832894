import { expect, test } from 'vitest'
import type { ConsoleUnderTest } from '../../support/sites/console-site.ts'
import { ConsolePages } from '../console-pages.ts'

/** Lists by keyboard, and what was deleted in them. */
export function listStories(opened: () => ConsoleUnderTest): void {
  test('in a list arrows move, Space selects, Enter opens, and the details follow the arrows', async () => {
    const { call, page } = opened()
    const pages = new ConsolePages(page)
    const made = [await call('rooms.create', { topic: 'Key A' }), await call('rooms.create', { topic: 'Key B' })]
    await pages.go('Rooms')
    await pages.search.fill('Key')
    await expect.poll(() => pages.row(/Key [AB]/).count()).toBe(2)
    const [first = '', second = ''] = (await pages.row(/Key [AB]/).allInnerTexts()).map(
      (text) => /Key [AB]/.exec(text)?.[0],
    )
    const list = page.getByRole('grid', { name: 'Rooms' })
    await list.focus()
    await page.keyboard.press('Home')
    await page.keyboard.press('Space')
    await expect.poll(() => pages.row(first).getAttribute('aria-selected')).toBe('true')
    await page.keyboard.press('Space')
    await expect.poll(() => pages.row(first).getAttribute('aria-selected')).toBe('false')
    await page.keyboard.press('Enter')
    await pages.panel(first).waitFor()
    await page.keyboard.press('ArrowDown')
    await pages.panel(second).waitFor()
    await page.keyboard.press('Escape')
    await pages.panel(second).waitFor({ state: 'detached' })
    await pages.search.fill('')
    await call('rooms.delete', { room_ids: made.map(({ room_id }) => room_id) })
  })

  test('a deletion is undone from its notice, and items deleted earlier are restored from the trash', async () => {
    const { call, page } = opened()
    const pages = new ConsolePages(page)
    const { room_id } = await call('rooms.create', { topic: 'Regretted', attendee_max: 17 })
    await pages.go('Rooms')
    const remove = async (): Promise<void> => {
      await pages.actOnRow('Regretted', 'Delete')
      await pages.confirm('Delete')
      await pages.row('Regretted').waitFor({ state: 'detached' })
    }
    await remove()
    await page.getByRole('button', { name: 'Undo' }).last().click()
    await pages.row('Regretted').waitFor()
    await remove()
    await page.getByRole('link', { name: 'Trash' }).click()
    await pages.heading('Trash').waitFor()
    await pages.row('Regretted').getByRole('button', { name: 'Restore' }).click()
    await pages.row('Regretted').waitFor({ state: 'detached' })
    expect((await call('rooms.get', { room_id })).room).toMatchObject({ topic: 'Regretted', attendee_max: 17 })
    await call('rooms.delete', { room_ids: [room_id] })
  })
}
