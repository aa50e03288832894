import { expect, test } from 'vitest'
import { RoomSite } from '../support/sites/room-site.ts'

test('a screen reader announces who joined, who speaks if the user chose so, and who left', async () => {
  await using site = await RoomSite.start()
  const room = await site.room()
  const ann = await site.join(await site.link(room, { user_id: 'ann', user_name: 'Ann', role: 'host' }))
  const announced = ann.page.locator('[aria-live=polite]')
  const bo = await site.join(await site.link(room), { name: 'Bo' })
  await announced.getByText('Bo joined').waitFor()
  await ann.page.getByRole('button', { name: 'More' }).click()
  await ann.page.getByRole('menuitem', { name: 'Settings…' }).click()
  await ann.page.getByLabel('Who speaks').check()
  await ann.page.keyboard.press('Escape')
  // The microphone of the browser beeps.
  const cy = await site.join(await site.link(room), { name: 'Cy' })
  await announced.getByText('Cy is speaking').waitFor()
  await cy.close()
  await announced.getByText('Cy left').waitFor()
  await bo.close()
  await announced.getByText('Bo left').waitFor()
  await expect.poll(() => announced.innerText(), { timeout: 12_000 }).toBe('')
})
