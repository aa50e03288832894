import { expect, test } from 'vitest'
import { h } from 'vue'
import ConfirmHost from '../../../renderer/console/components/ConfirmHost.vue'
import RoomsPage from '../../../renderer/console/pages/RoomsPage.vue'
import { operator, pageText, press, says, show } from '../devices/operator-page.ts'
import { eventually } from '../eventually.ts'

test('Two unreachable cameras change no count of people: list, overview and the question before deleting agree, and it names the room', async () => {
  const client = await operator()
  const { room_id } = await client.call('rooms.create', { topic: 'North yard' })
  await client.call('rooms.create', { topic: 'Empty' })
  await client.call('lab.device_trouble', { name: 'lab', rules: [{ match: '10.0.0.9', kind: 'unreachable' }] })
  for (const [userId, address, join] of [
    ['gate', '10.0.0.1', 'required'],
    ['door', '10.0.0.9', 'background'],
    ['roof', '10.0.0.9', 'background'],
  ] as const) {
    const userAddress = `rtsp://${address}/${userId}`
    await client.call('devices.create', { roomId: room_id, userId, userName: userId, userAddress, join })
  }
  const listed = async () => (await client.call('rooms.list', { search: 'yard', sort: 'people' })).items[0]
  expect(await listed()).toMatchObject({ people: 0, users: 1, devices: 3 })
  for (const user_id of ['ann', 'bo']) await client.call('lab.join', { room_id, user_id, user_name: user_id })
  expect(await listed()).toMatchObject({ topic: 'North yard', people: 2, users: 3, devices: 3 })
  expect((await client.call('overview.get', {})).counts.people).toBe(2)

  show(() => [h(RoomsPage), h(ConfirmHost)], client)
  const row = await eventually(() => {
    const found = [...document.querySelectorAll('[role="row"]')].find((one) => one.textContent?.includes('North yard'))
    if (!found) throw new Error(`the list is not there: ${pageText()}`)
    return found
  })
  expect(row.querySelector('[data-people]')?.textContent?.trim()).toBe('2')
  row.querySelector('input')?.click()
  await says('1 selected')
  await press('Delete')
  await says('Delete “North yard”?')
  await says('2 people are removed')
  await says('3 cameras are deleted, too')
})
