import { expect, test } from 'vitest'
import MoveDialog from '../../../renderer/console/pages/devices/MoveDialog.vue'
import { operator, press, says, show, write } from './operator-page.ts'

test('an operator moves two devices of which another one has just removed one: one message says how many moved, and why not all', async () => {
  const client = await operator()
  const { room_id } = await client.call('rooms.create', { topic: 'Gate' })
  for (const userId of ['north', 'south'])
    await client.call('devices.create', {
      roomId: room_id,
      userId,
      userName: userId,
      userAddress: 'rtsp://10.0.0.1/live',
    })
  const devices = await client.call('devices.list')
  const dialog = show(MoveDialog, client, { modelValue: false, devices })
  await dialog.setProps({ modelValue: true })
  await says('Move 2 devices to another room')
  await client.call('devices.remove', { userIds: ['south'] })
  document.querySelector<HTMLInputElement>('input[value="fresh"]')?.click()
  await write('Topic of the new room', 'Yard')
  await press('Move')
  await says('1 succeeded, 1 failed: ')
  expect(dialog.emitted('moved')).toHaveLength(1)
  expect(await client.call('devices.list')).toMatchObject([{ userId: 'north', roomTopic: 'Yard' }])
})
