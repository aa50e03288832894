import { expect, test } from 'vitest'
import type { ConsoleUnderTest } from '../../support/sites/console-site.ts'
import { ConsolePages } from '../console-pages.ts'

const desktop = { width: 1360, height: 860 }
const phone = { width: 390, height: 844 }

/** What the browser's back button does with input that is not saved. */
export function backButtonStories(opened: () => ConsoleUnderTest): void {
  const pages = (): ConsolePages => new ConsolePages(opened().page)

  test('the back button asks before it closes a dialog with input, and stays on the page', async () => {
    const { page, call } = opened()
    await call('overview.dismiss_welcome', {})
    const { room_id } = await call('rooms.create', { topic: 'There before' })
    await pages().go('Overview')
    await pages().go('Rooms')
    await pages().row(room_id).waitFor()
    await pages().button('New room').click()
    const form = pages().dialog('New room')
    await form.getByLabel('Topic').fill('Half a topic')
    await page.goBack()
    const question = pages().dialog('Discard your input?')
    await question.getByRole('button', { name: 'Keep editing' }).click()
    expect(await form.getByLabel('Topic').inputValue()).toBe('Half a topic')
    await page.goBack()
    await question.getByRole('button', { name: 'Discard' }).click()
    await form.waitFor({ state: 'hidden' })
    await pages().heading('Rooms').waitFor()
    await page.goBack()
    await pages().heading('Overview').waitFor()
    await call('rooms.delete', { room_ids: [room_id] })
  })

  test.each([
    ['a desktop', desktop],
    ['a phone', phone],
  ])(
    'on %s the back button asks before settings are lost, and each answer leads to the right page',
    async (_on, size) => {
      const { page, call } = opened()
      await call('overview.dismiss_welcome', {})
      await page.setViewportSize(size)
      await pages().go('Rooms')
      // The first dialog of a page decides which steps of the history are its own.
      await page.keyboard.press('Control+k')
      await pages().dialog('Find anything').waitFor()
      await page.keyboard.press('Escape')
      await pages().dialog('Find anything').waitFor({ state: 'hidden' })
      await pages().go('Settings')
      await page.getByRole('link', { name: 'Media', exact: true }).click()
      const field = page.getByRole('textbox', { name: 'Public address of join links' })
      await field.waitFor()
      const address = page.url()
      await field.fill('https://meet.example')
      const question = pages().dialog('Leave without saving?')
      for (let turn = 0; turn < 2; turn++) {
        await page.goBack()
        await question.getByRole('button', { name: 'Cancel' }).click()
        await question.waitFor({ state: 'hidden' })
        expect(await field.inputValue()).toBe('https://meet.example')
        await expect.poll(() => page.url()).toBe(address)
      }
      await page.goBack()
      await question.getByRole('button', { name: 'Discard changes' }).click()
      await page.getByRole('link', { name: 'Network', exact: true }).and(page.locator('[aria-current]')).waitFor()
      await page.goBack()
      await pages().heading('Rooms').waitFor()
      await page.setViewportSize(desktop)
    },
  )

  test('on a phone the pages behind More open after the sheet was closed before', async () => {
    const { page, call } = opened()
    await call('overview.dismiss_welcome', {})
    await page.setViewportSize(phone)
    await pages().go('Rooms')
    const more = page.getByRole('button', { name: 'More', exact: true })
    await more.click()
    await pages().dialog('More').getByRole('button', { name: 'Close this dialog' }).click()
    await pages().dialog('More').waitFor({ state: 'hidden' })
    await pages().go('Settings')
    await page.goBack()
    await pages().heading('Rooms').waitFor()
    await pages().go('MCU nodes')
    await page.setViewportSize(desktop)
  })
}
