import { expect, test } from 'vitest'
import AddDeviceDialog from '../../../renderer/console/pages/devices/AddDeviceDialog.vue'
import { fieldOf, operator, press, says, show, write } from './operator-page.ts'

test('a pasted address with a login is split, and the steps lead to a device in a new room', async () => {
  const client = await operator()
  show(AddDeviceDialog, client, { modelValue: true })
  await write('RTSP address', 'rtsp://admin:p@ss/w:rd@192.168.1.64:8554/Streaming/Channels/101')
  await press('Next')
  await says('User name')
  expect((await fieldOf('User name')).value).toBe('admin')
  expect((await fieldOf('Password')).value).toBe('p@ss/w:rd')
  await press('Probe')
  await says('only the address was checked')
  await press('Next')
  await says('Shown to people in the room')
  expect((await fieldOf('Name')).value).toBe('192.168.1.64')
  await write('Name', 'Gate')
  document.querySelector<HTMLInputElement>('input[value="fresh"]')?.click()
  await says('Topic of the new room')
  await write('Topic of the new room', 'Yard')
  await press('Add device')
  await says('Streaming.')
  const [device] = await client.call('devices.list')
  expect(device).toMatchObject({
    userName: 'Gate',
    userAddress: 'rtsp://192.168.1.64:8554/Streaming/Channels/101',
    options: { login_name: 'admin', login_password: '******' },
    state: 'joined',
  })
  expect((await client.call('rooms.list', {})).items).toMatchObject([{ topic: 'Yard', room_id: device?.roomId }])
})

test('an invalid address keeps the operator on the step and says what to correct', async () => {
  const client = await operator()
  show(AddDeviceDialog, client, { modelValue: true })
  await write('RTSP address', 'http://192.168.1.64')
  await press('Next')
  await says('Must start with rtsp:// or rtsps://')
  await write('RTSP address', 'rtsp://2001:db8::1/live')
  await press('Next')
  await says('An IPv6 address needs brackets')
  expect((await fieldOf('RTSP address')).getAttribute('aria-invalid')).toBe('true')
})

test('a userId in use is refused at its field, and the new room is not created twice', async () => {
  const client = await operator()
  const { room_id } = await client.call('rooms.create', { topic: 'Gate' })
  await client.call('devices.create', { roomId: room_id, userId: 'cam', userName: 'A', userAddress: 'rtsp://10.0.0.1' })
  show(AddDeviceDialog, client, { modelValue: true })
  await write('RTSP address', 'rtsp://10.0.0.2/live')
  await press('Next')
  await says('User name')
  await press('Probe')
  await says('only the address was checked')
  await press('Next')
  await says('Shown to people in the room')
  document.querySelector<HTMLInputElement>('input[value="fresh"]')?.click()
  await says('Topic of the new room')
  await write('Topic of the new room', 'Yard')
  await write('userId', 'cam')
  await press('Add device')
  await says('This userId is already in use')
  await write('userId', 'cam-2')
  await press('Add device')
  await says('was added to room')
  expect((await client.call('rooms.list', {})).items.map(({ topic }) => topic).sort()).toEqual(['Gate', 'Yard'])
})

test('suggestions follow the address: name and login of the previous address are replaced, a name typed by the operator stays', async () => {
  const client = await operator()
  show(AddDeviceDialog, client, { modelValue: true })
  const toRoom = async (): Promise<void> => {
    await press('Next')
    await says('User name')
    await press('Probe')
    await says('only the address was checked')
    await press('Next')
    await says('Shown to people in the room')
  }
  const toAddress = async (): Promise<void> => {
    for (let step = 0; step < 3; step++) await press('Back')
    await says('Paste it as the camera shows it')
  }
  await write('RTSP address', 'rtsp://admin:secret@10.0.0.1/live')
  await toRoom()
  expect((await fieldOf('Name')).value).toBe('10.0.0.1')
  await toAddress()
  await write('RTSP address', 'rtsp://10.0.0.2/live')
  await press('Next')
  await says('User name')
  expect([(await fieldOf('User name')).value, (await fieldOf('Password')).value]).toEqual(['', ''])
  await press('Back')
  await toRoom()
  expect((await fieldOf('Name')).value).toBe('10.0.0.2')
  await write('Name', 'Gate')
  await toAddress()
  await write('RTSP address', 'rtsp://10.0.0.3/live')
  await toRoom()
  expect((await fieldOf('Name')).value).toBe('Gate')
})
