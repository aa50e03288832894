import { expect, test } from 'vitest'
import { h } from 'vue'
import ConfirmHost from '../../../renderer/console/components/ConfirmHost.vue'
import RoomsPage from '../../../renderer/console/pages/RoomsPage.vue'
import { fieldOf, operator, press, says, show, write } from '../devices/operator-page.ts'
import { eventually } from '../eventually.ts'

test('Rooms are deleted together only when the operator types their number; users and cameras are counted separately, and the search stays', async () => {
  const client = await operator()
  const { room_id } = await client.call('rooms.create', { topic: 'Board' })
  await client.call('rooms.create', { topic: 'Yard' })
  for (const user_id of ['ann', 'bo']) await client.call('lab.join', { room_id, user_id, user_name: user_id })
  await client.call('devices.create', {
    roomId: room_id,
    userId: 'cam',
    userName: 'Gate',
    userAddress: 'rtsp://10.0.0.1',
    join: 'required',
  })
  show(() => [h(RoomsPage), h(ConfirmHost)], client)
  const all = await eventually(() => {
    const box = document.querySelector<HTMLInputElement>('input[aria-label="Select all"]')
    if (!box) throw new Error('the list is not there')
    return box
  })
  all.dispatchEvent(new Event('change'))
  await says('2 selected')
  expect(document.querySelector('[aria-label="Search number, topic, owner, tag"]')).not.toBeNull()
  await press('Delete')
  await says('2 people are removed from their rooms')
  await says('1 camera is deleted, too')
  const button = document.querySelector<HTMLButtonElement>('[data-confirm]')
  expect(button?.disabled).toBe(true)
  await write('Type 2 to confirm', '3')
  expect(button?.disabled).toBe(true)
  await write('Type 2 to confirm', '2')
  expect((await fieldOf('Type 2 to confirm')).value).toBe('2')
  await eventually(() => expect(button?.disabled).toBe(false))
  button?.click()
  await says('2 rooms deleted')
  expect((await client.call('rooms.list', {})).items).toEqual([])
})
