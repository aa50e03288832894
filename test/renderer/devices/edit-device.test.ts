import { expect, onTestFinished, test } from 'vitest'
import { showLanguage } from '../../../renderer/console/i18n/index.ts'
import EditDeviceDialog from '../../../renderer/console/pages/devices/EditDeviceDialog.vue'
import { fieldOf, operator, press, says, show, write } from './operator-page.ts'

test('a device that moves to another address needs its password again; the dialog says so before and at the field, in both languages', async () => {
  const client = await operator()
  onTestFinished(() => showLanguage('en'))
  const { room_id } = await client.call('rooms.create', { topic: 'Gate' })
  const device = await client.call('devices.create', {
    roomId: room_id,
    userId: 'cam',
    userName: 'Gate',
    userAddress: 'rtsp://admin:secret@10.0.0.1/live',
  })
  const dialog = show(EditDeviceDialog, client, { modelValue: false, device })
  await dialog.setProps({ modelValue: true })
  await says('Leave empty to keep the stored password')
  await write('RTSP address', 'rtsp://10.0.0.2/live')
  await says('Enter the password again')
  await press('Save')
  await says('Enter the password: the stored one is not sent to another host, port or scheme')
  expect((await fieldOf('Password')).getAttribute('aria-invalid')).toBe('true')
  await press('Probe')
  await showLanguage('zh')
  await says('请输入密码：已保存的密码不会发送到其他主机')
  await showLanguage('en')
  expect(await client.call('devices.list')).toMatchObject([{ userAddress: 'rtsp://10.0.0.1/live' }])

  await write('Password', 'of the other one')
  await press('Save')
  await says('saved')
  expect(await client.call('devices.list')).toMatchObject([{ userAddress: 'rtsp://10.0.0.2/live' }])
})

test('another path of the same camera keeps the stored password', async () => {
  const client = await operator()
  const { room_id } = await client.call('rooms.create', { topic: 'Gate' })
  const userAddress = 'rtsp://admin:secret@10.0.0.1/live'
  const device = await client.call('devices.create', { roomId: room_id, userId: 'cam', userName: 'Gate', userAddress })
  const dialog = show(EditDeviceDialog, client, { modelValue: false, device })
  await dialog.setProps({ modelValue: true })
  await write('RTSP address', 'rtsp://10.0.0.1:554/second')
  await says('Leave empty to keep the stored password')
  await press('Save')
  await says('saved')
  expect(await client.call('devices.list')).toMatchObject([
    { userAddress: 'rtsp://10.0.0.1:554/second', options: { login_name: 'admin', login_password: '******' } },
  ])
})
