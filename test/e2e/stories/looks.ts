import type { Locator } from 'playwright-core'
import { expect, test } from 'vitest'
import type { ConsoleUnderTest } from '../../support/sites/console-site.ts'
import { ConsolePages } from '../console-pages.ts'

/** Presses Esc in the search, and Ctrl+K in the moment in which it closes. */
const closeAndReopen = `new Promise((resolve) => {
  const press = (target, key) => target.dispatchEvent(new KeyboardEvent('keydown', { ...key, bubbles: true, cancelable: true }))
  const observer = new MutationObserver(() => {
    if (document.querySelector('dialog[open]')) return
    observer.disconnect()
    press(document.body, { key: 'k', ctrlKey: true })
    resolve()
  })
  observer.observe(document.body, { subtree: true, attributes: true, childList: true })
  press(document.activeElement, { key: 'Escape', code: 'Escape' })
})`

/** Choices of the page whose text is wider than their box. */
const cutChoices = `[...document.querySelectorAll('.choice-option')]
  .filter((choice) => choice.scrollWidth > choice.clientWidth)
  .map((choice) => choice.innerText)`

/** Language, theme, and state after a restart. */
export function lookStories(opened: () => ConsoleUnderTest): void {
  const pages = (): ConsolePages => new ConsolePages(opened().page)
  const isDark = (): Promise<unknown> => opened().page.evaluate(`document.documentElement.classList.contains('dark')`)
  const language = (): Promise<unknown> => opened().page.evaluate('document.documentElement.lang')

  /** Goes back from a form over a panel: one step closes one sheet. */
  async function goBackTwice(panel: Locator, form: Locator): Promise<void> {
    await opened().page.goBack()
    await form.waitFor({ state: 'hidden' })
    expect(await panel.isVisible()).toBe(true)
    await opened().page.goBack()
    await panel.waitFor({ state: 'detached' })
    await pages().heading('Rooms').waitFor()
  }

  test('language and theme change at once, and are stored', async () => {
    await pages().go('Rooms')
    const before = await isDark()
    await pages().button('Switch between light and dark').click()
    await expect.poll(isDark).toBe(!before)
    await opened().page.getByRole('combobox', { name: 'Language' }).selectOption('简体中文')
    await pages().heading('房间').waitFor()
    expect(await language()).toMatch(/^zh/)
    await opened().page.reload()
    await pages().heading('房间').waitFor()
    expect(await isDark()).toBe(!before)
    await opened().call('settings.set', { console: { language: 'en', theme: 'light' } })
    await pages().heading('Rooms').waitFor()
    await expect.poll(isDark).toBe(false)
  })

  test('on a phone every page fits the width of the screen, rows have two lines, and the back button closes a sheet', async () => {
    const { page, call } = opened()
    await call('overview.dismiss_welcome', {})
    const { room_id } = await call('rooms.create', { topic: 'Looked at from a phone' })
    const before = page.viewportSize()
    await page.setViewportSize({ width: 390, height: 844 })
    const tabs = page.getByRole('navigation', { name: 'Pages' })
    await expect
      .poll(() => tabs.locator('.label').allInnerTexts())
      .toEqual(['Overview', 'Rooms', 'Devices', 'Events', 'More'])
    for (const name of ['Overview', 'Rooms', 'Devices', 'API tester', 'Settings'] as const) {
      await pages().go(name)
      expect([name, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([name, 390])
    }
    await pages().go('Rooms')
    // German has the longest words.
    for (const [language, title] of [
      ['de', 'Räume'],
      ['en', 'Rooms'],
    ] as const) {
      await call('settings.set', { console: { language } })
      await page.getByRole('heading', { level: 1, name: title }).waitFor()
      expect(await page.evaluate(cutChoices)).toEqual([])
    }
    const number = pages().row(room_id).getByText(room_id)
    const topic = pages().row(room_id).getByText('Looked at from a phone')
    const [right, left] = await Promise.all([number.boundingBox(), topic.boundingBox()])
    expect((right?.x ?? 0) + (right?.width ?? 0)).toBeLessThan(390)
    expect(right?.y).toBeGreaterThan((left?.y ?? 0) + 10)

    const panel = pages().panel('Looked at from a phone')
    const focused = page.locator(':focus')
    await topic.click()
    await panel.locator(':focus').waitFor()
    await panel.getByRole('button', { name: 'Edit' }).click()
    const form = pages().dialog(`Edit room ${room_id}`)
    await form.getByLabel('Topic').and(focused).waitFor()
    expect((await form.boundingBox())?.width).toBe(390)
    await goBackTwice(panel, form)
    await topic.click()
    await panel.locator(':focus').waitFor()
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
    await page.setViewportSize(before ?? { width: 1360, height: 860 })
    await call('rooms.delete', { room_ids: [room_id] })
  })

  test('on a phone the back button closes a sheet, even if another sheet was reopened while it closed', async () => {
    const { page, call } = opened()
    await call('overview.dismiss_welcome', {})
    const { room_id } = await call('rooms.create', { topic: 'Opened again' })
    const before = page.viewportSize()
    await page.setViewportSize({ width: 390, height: 844 })
    await pages().go('Rooms')
    await pages().row(room_id).getByText('Opened again').click()
    const panel = pages().panel('Opened again')
    const edit = panel.getByRole('button', { name: 'Edit' })
    await edit.waitFor()
    const search = page.getByRole('combobox', { name: 'Find rooms, people' }).and(page.locator(':focus'))
    await page.keyboard.press('Control+k')
    await search.waitFor()
    await page.evaluate(closeAndReopen)
    await search.waitFor()
    await page.keyboard.press('Escape')
    await pages().dialog('Find anything').waitFor({ state: 'hidden' })

    const form = pages().dialog(`Edit room ${room_id}`)
    await edit.press('Enter')
    await form.getByLabel('Topic').and(page.locator(':focus')).waitFor()
    await goBackTwice(panel, form)
    await page.setViewportSize(before ?? { width: 1360, height: 860 })
    await call('rooms.delete', { room_ids: [room_id] })
  })

  test('rooms, credentials, nodes, cameras and settings survive a restart', async () => {
    const { call } = opened()
    await call('settings.set', { console: { language: 'zh', theme: 'dark' }, room_defaults: { attendee_max: 42 } })
    await call('rooms.create', { topic: 'Kept', host_password: 'hush' })
    const everything = async () => ({
      rooms: await call('rooms.list', {}),
      // The last use of a session is written a moment later.
      credentials: (await call('credentials.list')).map(({ last_used_at: _, ...credential }) => credential),
      nodes: (await call('nodes.list')).map(({ config }) => config),
      devices: (await call('devices.list', {})).map(({ userId, userAddress, options }) => ({
        userId,
        userAddress,
        options,
      })),
      settings: await call('settings.get'),
    })
    const before = await everything()
    await opened().restart()
    // The controller checks with the nodes where rooms are.
    await expect.poll(everything).toEqual(before)
    await expect.poll(language).toMatch(/^zh/)
    expect(await isDark()).toBe(true)
    await call('settings.set', { console: { language: 'en', theme: 'light' } })
    await pages().go('Rooms')
    await pages().row('Kept').waitFor()
  })

  test('on a phone the row of settings tabs shows the open one', async () => {
    const { page, call } = opened()
    await call('overview.dismiss_welcome', {})
    await pages().go('Rooms')
    const before = page.viewportSize()
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(`${page.url().split('#')[0]}#/settings/about`)
    const chosen = page.getByRole('navigation', { name: 'Settings sections' }).getByRole('link', { name: 'About' })
    await expect.poll(async () => (await chosen.boundingBox())?.x ?? 390).toBeLessThan(360)
    if (before !== null) await page.setViewportSize(before)
  })
}
