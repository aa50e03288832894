import { expect, test } from 'vitest'
import WelcomePage from '../../../renderer/console/pages/WelcomePage.vue'
import { operator, press, says, show, write } from '../devices/operator-page.ts'
import { eventually } from '../eventually.ts'

const ticks = () => [...document.querySelectorAll('ol > li')].map((step) => step.querySelector('.done') !== null)

test('The welcome page guides to a credential, a call, a room and a camera, and ticks steps done here or in another console', async () => {
  const client = await operator()
  show(WelcomePage, client)
  await says('Create a room')
  await eventually(() => expect(ticks()).toEqual([true, false, false, false, false]))
  await press('Create credential')
  await eventually(() => expect(ticks()).toEqual([true, true, false, false, false]))
  const [credential] = await client.call('credentials.list')
  const call = {
    api: 'media',
    operation: 'authenticate',
    access_key: credential?.access_key ?? '',
    params: {},
  } as const
  await client.call('tester.send', call)
  await says('Received: authenticate')
  await press('New room')
  await write('Topic', 'Yard')
  await press('Create room')
  await says('1 room')
  const [room] = (await client.call('rooms.list', {})).items
  expect(room?.topic).toBe('Yard')
  await client.call('devices.create', {
    roomId: room?.room_id ?? '',
    userName: 'Gate',
    userAddress: 'rtsp://10.0.0.1',
  })
  await says('1 device')
  expect(ticks()).toEqual([true, true, true, true, true])
})
