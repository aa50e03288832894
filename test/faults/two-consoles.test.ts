import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ConsolePages } from '../e2e/console-pages.ts'
import { violations } from '../support/axe.ts'
import { type ConsoleUnderTest, openConsole } from '../support/sites/console-site.ts'

let site: ConsoleUnderTest
/** Console of a second operator at the same controller. */
let other: Page

beforeAll(async () => {
  site = await openConsole('headless')
  other = await site.page.context().newPage()
  other.setDefaultTimeout(15_000)
  await other.goto(site.page.url())
  await other.getByRole('navigation').first().waitFor()
})
afterAll(() => site[Symbol.asyncDispose]())

const roomOf = async (topic: string): Promise<string> => (await site.call('rooms.create', { topic })).room_id
const room = async (room_id: string) => (await site.call('rooms.get', { room_id })).room

/** Opens the dialog that edits a room. */
async function edit(page: Page, room_id: string) {
  const pages = new ConsolePages(page)
  await pages.go('Rooms')
  await pages.actOnRow(room_id, 'Edit')
  const form = pages.dialog(`Edit room ${room_id}`)
  await form.waitFor()
  return {
    form,
    topic: form.getByLabel('Topic'),
    waitingRoom: form.getByText('The host lets people in'),
    save: () => form.getByRole('button', { name: 'Save', exact: true }).click(),
    saved: () => form.waitFor({ state: 'hidden' }),
  }
}

test('two operators edit one room: the topic of one and the waiting room of the other are both kept', async () => {
  const id = await roomOf('Board')
  const [mine, theirs] = [await edit(site.page, id), await edit(other, id)]
  await theirs.waitingRoom.click()
  await theirs.save()
  await theirs.saved()
  await mine.topic.fill('Council')
  await mine.save()
  await mine.saved()
  expect(await room(id)).toMatchObject({ topic: 'Council', waiting_room: true })
})

test('both change the topic: the second one sees both values and who changed it, by keyboard, and chooses', async () => {
  const id = await roomOf('Hall')
  const { page } = site
  const conflict = new ConsolePages(page).dialog('Changed meanwhile')
  const save = conflict.getByRole('button', { name: 'Save', exact: true })
  const [first, second] = [await edit(page, id), await edit(other, id)]
  await second.topic.fill('North hall')
  await second.save()
  await second.saved()
  await first.topic.fill('South hall')
  await first.waitingRoom.click()
  await first.save()

  await conflict.getByText('South hall').waitFor()
  await conflict.getByText('North hall').waitFor()
  await conflict.getByText(/^Changed by Console key, \d\d:\d\d/).waitFor()
  expect(await save.isDisabled()).toBe(true)
  expect(await violations(page, 'colours')).toEqual([])
  // Going on with editing loses nothing.
  await page.keyboard.press('Escape')
  await conflict.waitFor({ state: 'hidden' })
  expect(await first.topic.inputValue()).toBe('South hall')

  await first.topic.press('Enter')
  await conflict.getByRole('radio').first().focus()
  await page.keyboard.press('Space')
  await page.keyboard.press('ArrowRight')
  expect(await conflict.getByRole('radio', { checked: true }).count()).toBe(1)
  expect(await save.isDisabled()).toBe(false)
  await page.keyboard.press('Enter')
  await first.saved()
  // The current value was chosen; the waiting room did not overlap.
  expect(await room(id)).toMatchObject({ topic: 'North hall', waiting_room: true })

  const again = await edit(page, id)
  await site.call('rooms.update', { room_id: id, topic: 'West hall', host_password: 'secret-1' })
  await again.topic.fill('East hall')
  await again.form.getByLabel('Host password').fill('secret-2')
  await again.save()
  await conflict.getByText('hidden').first().waitFor()
  expect(await conflict.innerText()).not.toContain('secret-')
  for (const choice of await conflict.getByText('Your value').all()) await choice.click()
  await save.click()
  await again.saved()
  expect((await room(id)).topic).toBe('East hall')
  expect(await site.call('rooms.reveal_password', { room_id: id })).toEqual({ host_password: 'secret-2' })
})

test.each([
  ['de', 'Inzwischen geändert', 'Ihr Wert', 'Thema'],
  ['zh', '内容已被更改', '您的值', '主题'],
] as const)('the choice is worded in %s', async (language, title, mine, topic) => {
  const id = await roomOf('Yard')
  const { page } = site
  const dialog = await edit(page, id)
  await dialog.topic.fill('Garden')
  await site.call('rooms.update', { room_id: id, topic: 'Court' })
  await site.call('settings.set', { console: { language } })
  const form = page.getByRole('dialog')
  await expect.poll(() => page.locator('html').getAttribute('lang')).toMatch(new RegExp(`^${language}`))
  await form.getByLabel(topic).press('Enter')
  const conflict = page.getByRole('dialog', { name: title })
  await conflict.getByText(mine).click()
  await conflict.getByText('Court').waitFor()
  await conflict.locator('button[type=submit]').click()
  await conflict.waitFor({ state: 'hidden' })
  await expect.poll(async () => (await room(id)).topic).toBe('Garden')
  await site.call('settings.set', { console: { language: 'en' } })
  await expect.poll(() => page.locator('html').getAttribute('lang')).toMatch(/^en/)
})
