import { readFile } from 'node:fs/promises'
import { expect, onTestFinished, test } from 'vitest'
import { RoomSite } from '../support/sites/room-site.ts'

test('An operator revokes a live link in the panel of its room, and the page of its viewer ends', async () => {
  const site = await RoomSite.start()
  onTestFinished(() => site[Symbol.asyncDispose]())
  const room = await site.room({ topic: 'Gate' })
  await site.camera(room, 'gate', 'North gate')
  const { controller } = site
  const { ready, folder } = controller
  await expect
    .poll(async () => (await controller.rpc('rooms.get', { room_id: room })).users.length, { timeout: 30_000 })
    .toBeGreaterThan(0)
  const { page_url } = await controller.rpc('orders.live_link', { room_id: room, user_id: 'gate' })
  const guest = await site.open(page_url)
  await guest.until('document.querySelector("video")?.currentTime > 0')

  const key = (await readFile(`${folder}/console.key`, 'utf8')).trim()
  const operator = await site.open(`${ready.console}/#key=${key}`, { viewport: { width: 1_360, height: 900 } })
  const { page } = operator
  await page.getByRole('navigation').getByRole('link', { name: 'Rooms' }).click()
  await page.getByRole('row').filter({ hasText: 'Gate' }).first().click()
  const links = page.getByRole('list', { name: 'Access links' })
  await links.getByText('North gate').waitFor()
  expect(await operator.accessibilityProblems()).toEqual([])
  // By keyboard, as the button is reached with Tab.
  await links.getByRole('button', { name: 'Revoke: Live link, North gate' }).press('Enter')
  await page.getByRole('dialog').getByText('Everyone who watches with it is disconnected').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).press('Enter')
  await links.waitFor({ state: 'detached' })
  await guest.page.getByText('This live stream has ended').waitFor()
  expect((await controller.rpc('capabilities.list', {})).total).toBe(0)
})
