import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startFilmCameras } from '../support/camera/film-camera.ts'
import { filmOf, smallFilm } from '../support/recordings/film.ts'
import { openConsole } from '../support/sites/console-site.ts'
import { lookAt, sizes } from '../e2e/surfaces/surface-walk.ts'

/** Folder for screenshots. */
const pictures = process.env.ROOMDESK_PICTURES

test('An operator finds ordered recordings and live streams, stops and deletes them, and opens the rule of a camera from its menu', {
  timeout: 180_000,
}, async () => {
  await using cameras = await startFilmCameras(await filmOf(smallFilm))
  const site = await openConsole('headless')
  onTestFinished(() => site[Symbol.asyncDispose]())
  const { page } = site
  const shoot = async (name: string): Promise<void> => {
    if (pictures !== undefined) await page.screenshot({ path: join(pictures, `${name}.png`) })
  }
  await site.call('overview.dismiss_welcome', {})
  const { room_id } = await site.call('rooms.create', { topic: 'Yard' })
  const camera = { roomId: room_id, userId: 'gate', userName: 'North gate', userAddress: cameras.url(0) }
  await site.call('devices.create', camera)
  await expect.poll(async () => (await site.call('devices.list', {}))[0]?.state, { timeout: 30_000 }).toBe('joined')
  await site.call('orders.record', { room_id, user_id: 'gate', name: 'Night shift', tag: 'security' })
  await site.call('orders.stream', { room_id, user_id: 'gate' })
  const [address] = page.url().split('#')
  const found: Record<string, string[]> = {}
  for (const size of ['desktop', 'phone'] as const) {
    await page.setViewportSize(sizes[size])
    await page.goto(`${address}#/devices/gate`)
    // The panel around it is a section, too.
    const running = page.locator('section', { hasText: 'Files and live streams' }).last()
    await running.getByRole('button', { name: /^More/ }).first().click()
    await lookAt(page, 'RunningOrders AppMenu', size, found)
    await page.keyboard.press('Escape')
    await page.goto(`${address}#/overview`)
  }
  await page.setViewportSize(sizes.desktop)
  await page.goto(`${address}#/recordings`)
  await page.getByText('Ordered', { exact: true }).click()
  const row = page.getByRole('row', { name: /Night shift/ })
  await row.getByText('Recording', { exact: true }).waitFor({ timeout: 30_000 })
  const more = page.getByRole('button', { name: /^More( actions)?: / })
  await more.click()
  await lookAt(page, 'OrderedPage AppMenu', 'desktop', found)
  await shoot('ordered-menu')
  await page.getByRole('menuitem', { name: 'Stop' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click()
  await row.getByText('Available', { exact: true }).waitFor({ timeout: 30_000 })
  await row.getByText(/^1 file, /).waitFor()
  await shoot('ordered')
  await site.call('settings.set', { console: { theme: 'dark' } })
  await shoot('ordered-dark')
  await page.setViewportSize(sizes.phone)
  await site.call('settings.set', { console: { language: 'zh' } })
  await page.getByText('可用').waitFor()
  await shoot('ordered-phone-zh')
  await site.call('settings.set', { console: { language: 'en', theme: 'light' } })
  await more.click()
  await lookAt(page, 'OrderedPage AppMenu', 'phone', found)
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('Nobody has ordered a recording').waitFor()
  await page.setViewportSize(sizes.desktop)

  await page.getByText('Live streams', { exact: true }).click()
  await page
    .getByRole('row', { name: /North gate/ })
    .getByText('Live', { exact: true })
    .waitFor({ timeout: 30_000 })
  await more.click()
  await page.getByRole('menuitem', { name: 'Copy the address of the page' }).waitFor()
  await page.getByRole('menuitem', { name: 'Stop' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click()
  await page.getByText('Stopped', { exact: true }).waitFor()
  expect((await site.call('orders.lives', {})).items).toMatchObject([
    { state: 'stopped', created_by: '', ordered_by: 'console key', topic: 'Yard', user_name: 'North gate' },
  ])

  await page.goto(`${address}#/devices`)
  await page.getByRole('button', { name: /^More( actions)?: North gate/ }).click()
  await page.getByRole('menuitem', { name: 'Change recording rule…' }).click()
  await page.getByRole('dialog', { name: 'Recording of “North gate”' }).waitFor()
  await shoot('rule')
  expect(found).toEqual({})
  expect(site.problems).toEqual([])
})
