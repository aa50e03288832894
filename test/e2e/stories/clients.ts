import { exec } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { ApiClient } from '../../support/api-client.ts'
import { shared } from '../../support/fixtures.ts'
import { type ConsoleUnderTest, type Face, openConsole } from '../../support/sites/console-site.ts'
import { ConsolePages } from '../console-pages.ts'

/** The first start of a site. It has a console of its own: the charts contain only this start. */
export function firstStartStory(face: Face): void {
  const opened = shared(() => openConsole(face))
  const pages = (): ConsolePages => new ConsolePages(opened().page)

  test('a first start welcomes, and ends with a curl command that works', async () => {
    const { page } = opened()
    await pages().heading('Welcome to Roomdesk').waitFor()
    await page.getByRole('radio', { name: /^Lab / }).check()
    await pages().button('Next').click()
    await pages().button('Show the secret').click()
    const command = await page.getByLabel('curl command', { exact: true }).innerText()
    const { stdout } = await promisify(exec)(command)
    expect(JSON.parse(stdout)).toMatchObject({ ret: 0 })
    await page.getByText(/^Received: authenticate from .*, ret 0$/).waitFor()
    await pages().button('Skip the first run').click()
    await pages().heading('Overview').waitFor()
    const { media, device } = await opened().urls()
    for (const url of [media, device]) await page.getByText(url, { exact: true }).first().waitFor()
    await page.getByText('Charts', { exact: true }).click()
    const slider = page.getByRole('slider', { name: /^CPU/ })
    await expect.poll(() => slider.getAttribute('aria-valuetext')).toMatch(/Machine \d/)
    await slider.focus()
    await page.keyboard.press('Home')
    expect(await slider.getAttribute('aria-valuetext')).toMatch(/^\d\d:\d\d:\d\d: Machine –/)
    // The cursor is the same on every chart.
    const requests = page.getByRole('slider', { name: /^Requests/ })
    expect(await requests.getAttribute('aria-valuetext')).toMatch(/^\d\d:\d\d:\d\d: Media API –/)
    // The start of the controller and its nodes is marked.
    await expect.poll(() => page.getByRole('table', { name: 'Events' }).innerText()).toMatch(/1 controller event/)
    await page.keyboard.press('Shift+ArrowRight')
    expect(await slider.getAttribute('aria-valuetext')).toContain('1 controller event')
    await page.getByText('No failures in this time').waitFor()
    await page.getByText('24 h', { exact: true }).click()
    await page.reload()
    await expect.poll(() => page.getByRole('radio', { name: '24 h' }).isChecked()).toBe(true)
    await page.getByText('15 min', { exact: true }).click()
    expect(opened().problems).toEqual([])
  })
}

/** Clients, and what the operator sees of them. */
export function clientStories(opened: () => ConsoleUnderTest): void {
  const pages = (): ConsolePages => new ConsolePages(opened().page)

  test('a credential is created, and a client signs in with it', async () => {
    const { page } = opened()
    await pages().go('Credentials')
    await pages().button('New credential').click()
    const form = pages().dialog('New credential')
    await form.getByLabel('Label').fill('Lobby screens')
    await form.getByRole('button', { name: 'Create credential' }).click()
    const shown = pages().dialog('Credential created')
    const credential = {
      access_key: await pages().fact(shown, 'Access key'),
      secret_key: await pages().fact(shown, 'Secret key'),
    }
    await shown.getByRole('button', { name: 'I have stored it' }).click()
    await expect.poll(() => pages().row('Lobby screens').innerText()).toContain('never')
    expect(await page.content()).not.toContain(credential.secret_key)

    const client = new ApiClient(await opened().urls(), credential)
    expect(await client.authenticate()).toMatchObject({ ret: 0 })
    await client.createRoom({ topic: 'Made from the lobby' })
    await expect.poll(() => pages().row('Lobby screens').innerText()).toMatch(/just now|\d+ sec ago/)
  })

  test('a room that a client creates appears and disappears without a reload', async () => {
    await pages().go('Rooms')
    const client = await newClient(opened(), 'Reception')
    const room_id = await client.createRoom({ topic: 'Visitors today' })
    await pages().row('Visitors today').waitFor()
    await pages().row('Visitors today').click()
    const panel = pages().panel('Visitors today')
    await panel.getByText('Nobody is in this room').waitFor()
    await panel.getByText(client.accessKey).first().waitFor()
    await client.get('/rtc/room/update', { room_id, topic: 'Visitors tomorrow' })
    await pages().row('Visitors tomorrow').waitFor()
    expect(await client.get('/rtc/room/del', { room_id })).toMatchObject({ ret: 0 })
    await pages().row('Visitors tomorrow').waitFor({ state: 'detached' })
    await opened().page.getByText('This room no longer exists').waitFor()
    await opened().page.keyboard.press('Escape')
  })

  test('a secret is rotated: the old one is refused at once, the new one works', async () => {
    const client = await newClient(opened(), 'Old client')
    await pages().go('Credentials')
    // The list shows the sign-in a moment later.
    await expect.poll(() => pages().row('Old client').innerText()).toMatch(/just now|\d+ sec ago/)
    await pages().actOnRow('Old client', 'Rotate secret')
    await opened().page.getByText('1 open session ends at once').waitFor()
    await pages().confirm('Rotate secret')
    const shown = pages().dialog('The credential has a new secret')
    const secret_key = await pages().fact(shown, 'Secret key')
    await shown.getByRole('button', { name: 'I have stored it' }).click()

    expect(await client.get('/rtc/room/get', { room_id: '1' })).toMatchObject({ ret: 602 })
    expect(await client.authenticate()).toMatchObject({ ret: 401 })
    const again = new ApiClient(await opened().urls(), { access_key: client.accessKey, secret_key })
    expect(await again.authenticate()).toMatchObject({ ret: 0 })
  })
}

/** A client signed in with a credential of its own. */
export async function newClient(opened: ConsoleUnderTest, label: string): Promise<ApiClient> {
  const { credential, secret_key } = await opened.call('credentials.create', { label })
  const client = new ApiClient(await opened.urls(), { access_key: credential.access_key, secret_key })
  await client.authenticate()
  return client
}
