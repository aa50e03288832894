import { expect, test } from 'vitest'
import { RoomSite } from '../support/sites/room-site.ts'

const password = 'correct horse battery'

test('a session ends while a form is filled in: its user signs in again over the page and continues; another user finds a fresh page', async () => {
  await using site = await RoomSite.start()
  for (const name of ['olga', 'pia']) await site.controller.rpc('accounts.create', { name, role: 'admin', password })
  const page = await site.window('none')
  const errors: string[] = []
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text(), message.location().url))
  await page.goto(`${site.controller.ready.console}/#/certificate`)
  await page.getByRole('heading').first().waitFor()
  await page.goto(`${site.controller.ready.console}/#/rooms`)
  const signIn = async (name: string): Promise<void> => {
    await page.locator('input[autocomplete=username]').fill(name)
    await page.getByRole('textbox', { name: 'Password', exact: true }).fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.locator('input[autocomplete=username]').waitFor({ state: 'detached' })
  }
  const endSession = async (name: string): Promise<void> => {
    const accounts = await site.controller.rpc('accounts.list', {})
    const id = accounts.find((each) => each.name === name)?.id ?? ''
    await site.controller.rpc('accounts.end_sessions', { id })
    await page.getByText('Your session has ended. Sign in again.').waitFor()
  }
  await signIn('olga')
  await page.getByRole('button', { name: 'New room' }).first().click()
  const topic = page.getByRole('dialog').getByRole('textbox').first()
  await topic.fill('A long topic')
  await endSession('olga')
  await signIn('olga')
  expect(await topic.inputValue()).toBe('A long topic')
  await topic.fill('A longer topic')
  await endSession('olga')
  await signIn('pia')
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  await expect.poll(() => topic.count()).toBe(0)
  await endSession('pia')
  await page.reload()
  await page.locator('input[autocomplete=username]').waitFor()
  // Nobody is signed in, which is no error of the page.
  expect(errors).toEqual([])
})
