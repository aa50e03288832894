import type { Locator } from 'playwright-core'
import { expect, test } from 'vitest'
import { violations } from '../../support/axe.ts'
import type { ConsoleUnderTest } from '../../support/sites/console-site.ts'
import { ConsolePages } from '../console-pages.ts'

/** An element of the page, as far as the question needs it. */
interface Shown {
  getBoundingClientRect(): { left: number; top: number; right: number; bottom: number }
  contains(other: unknown): boolean
  ownerDocument: { elementFromPoint(x: number, y: number): unknown }
}

/** Tells whether an element is whole in the window and nothing covers it, at both of its ends. */
const isInSight = (one: Locator): Promise<boolean> =>
  one.evaluate((element: Shown) => {
    const { left, top, right, bottom } = element.getBoundingClientRect()
    const shows = (x: number, y: number): boolean => element.contains(element.ownerDocument.elementFromPoint(x, y))
    return shows(left + 2, top + 2) && shows((left + right) / 2, bottom - 2)
  })

/** Dialogs with forms: what is wrong is read at once, and a slip loses nothing. */
export function formStories(opened: () => ConsoleUnderTest): void {
  test('in a low window a refusal is visible wherever it appears in the dialog: below the last field, or for the whole form', async () => {
    const { call, page } = opened()
    const pages = new ConsolePages(page)
    const before = page.viewportSize()
    await call('rooms.create', { topic: 'Named', room_extend_id: 'taken-already' })
    await page.setViewportSize({ width: 1_360, height: 520 })
    await pages.go('Rooms')
    await pages.button('New room').first().click()
    const form = pages.dialog('New room')
    await form.getByLabel('Topic').fill('Second of that name')
    await form.getByText('More: joining by number').click()
    await form.getByLabel('Custom room ID').fill('taken-already')
    await form.getByRole('button', { name: 'Create room' }).click()
    const problem = form.getByRole('alert').first()
    await problem.waitFor()
    await expect.poll(() => isInSight(problem)).toBe(true)

    // A limit of the site is no mistake of a field.
    await form.getByLabel('Custom room ID').fill('')
    await call('licence.set', { expires_at: '', max_rooms: 1, max_users: 0 })
    await form.getByRole('button', { name: 'Create room' }).click()
    const refusal = form.locator('.note-bar[role="alert"]')
    await refusal.waitFor()
    await expect.poll(() => isInSight(refusal)).toBe(true)
    await call('licence.set', { expires_at: '', max_rooms: 0, max_users: 0 })
    await form.getByRole('button', { name: 'Cancel' }).click()
    await page.setViewportSize(before ?? { width: 1_360, height: 860 })
  })

  test('Esc and a click beside a form ask before typed text is lost; an unchanged form closes at once', async () => {
    const { page } = opened()
    const pages = new ConsolePages(page)
    await pages.go('Rooms')
    await pages.button('New room').first().click()
    const form = pages.dialog('New room')
    const topic = form.getByLabel('Topic')
    await topic.and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Escape')
    await form.waitFor({ state: 'hidden' })

    await pages.button('New room').first().click()
    await topic.fill('A long thought')
    const question = pages.dialog('Discard your input?')
    for (const slip of [() => page.keyboard.press('Escape'), () => page.mouse.click(8, 400)]) {
      await slip()
      await question.waitFor()
      expect(await violations(page, 'colours')).toEqual([])
      await question.getByRole('button', { name: 'Keep editing' }).click()
      await question.waitFor({ state: 'hidden' })
      expect(await topic.inputValue()).toBe('A long thought')
      await topic.and(page.locator(':focus')).waitFor()
      expect(await page.locator('dialog[open]').count()).toBe(1)
    }
    // Esc answers the question like its first button.
    await page.keyboard.press('Escape')
    await question.waitFor()
    await page.keyboard.press('Escape')
    await question.waitFor({ state: 'hidden' })
    expect(await topic.inputValue()).toBe('A long thought')
    await page.keyboard.press('Escape')
    await question.getByRole('button', { name: 'Discard' }).click()
    await form.waitFor({ state: 'hidden' })
  })
}
