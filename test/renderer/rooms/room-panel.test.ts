import { beforeEach, expect, test } from 'vitest'
import RoomPanel from '../../../renderer/console/pages/rooms/RoomPanel.vue'
import type { ConsoleClient } from '../../../renderer/kit/transport/client.ts'
import { operator, pageText, press, says, show } from '../devices/operator-page.ts'
import { eventually } from '../eventually.ts'

let client: ConsoleClient
beforeEach(async () => {
  client = await operator()
})

test('A link to a number that no room ever had says so; a room that is deleted meanwhile says that', async () => {
  const never = show(RoomPanel, client, { roomId: '1234' })
  await says('There is no room with this number.')
  expect(pageText()).not.toContain('while you were viewing it')
  never.unmount()
  const { room_id } = await client.call('rooms.create', { topic: 'Short-lived' })
  show(RoomPanel, client, { roomId: room_id })
  await says('Short-lived')
  await client.call('rooms.delete', { room_ids: [room_id] })
  await says('It was deleted while you were viewing it.')
})

test('The panel has one primary action, and a menu for the others', async () => {
  const { room_id } = await client.call('rooms.create', { topic: 'Hall' })
  show(RoomPanel, client, { roomId: room_id })
  await says('Edit')
  const names = [...document.querySelectorAll('.side-panel .app-button.primary')].map((one) => one.textContent?.trim())
  expect(names).toHaveLength(1)
  expect(pageText()).not.toContain('Save as template')
  document.querySelector<HTMLElement>('[aria-label="More actions for this room"]')?.click()
  await says('Save as template')
  expect(pageText()).not.toMatch(/Internal ID|get_mcu|1 · /)
})

test('a host password that is shown is hidden again once the room has another one', async () => {
  const { room_id } = await client.call('rooms.create', { topic: 'Vault', host_password: 'first one' })
  show(RoomPanel, client, { roomId: room_id })
  await press('Show')
  await says('first one')
  await client.call('rooms.update', { room_id, host_password: 'second one' })
  await eventually(() => expect(pageText()).not.toContain('first one'))
  await press('Show')
  await says('second one')
})
