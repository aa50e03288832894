import { expect, test } from 'vitest'
import { h } from 'vue'
import ConfirmHost from '../../../renderer/console/components/ConfirmHost.vue'
import FaultBanner from '../../../renderer/console/components/FaultBanner.vue'
import LabPage from '../../../renderer/console/pages/LabPage.vue'
import { fieldOf, operator, press, says, show, write } from '../devices/operator-page.ts'
import { eventually } from '../eventually.ts'

const send = { api: 'media', operation: 'authenticate', params: { access_key: 'x', digest: 'y' } } as const

test('without a simulated node the lab says so, and creates one', async () => {
  const client = await operator()
  await client.call('nodes.remove', { name: 'lab' })
  show(LabPage, client)
  await says('No simulated node')
  await press('Add simulated node')
  await says('How a simulated node responds')
  expect((await client.call('nodes.list')).map(({ config }) => config)).toMatchObject([
    { name: 'lab', kind: 'simulated' },
  ])
})

test('test people are added with their media, marked as such, and removed', async () => {
  const client = await operator()
  // Without the other parts of the lab, whose buttons have the same names.
  await client.call('nodes.remove', { name: 'lab' })
  show(LabPage, client)
  await press('Add test people')
  await write('Name', 'lobby')
  for (const [label, text] of [
    ['Number of rooms', '2'],
    ['Packet loss (%)', '5'],
  ] as const) {
    await write(label, text)
    // A number applies when its field loses the focus.
    ;(await fieldOf(label)).dispatchEvent(new Event('change', { bubbles: true }))
  }
  await press('Add')
  await says('The test people lobby arrive')
  await says('5% packet loss')
  await says('test-people-lobby-2')
  await says('No embedded node runs them')
  expect(await client.call('lab.people')).toMatchObject([{ name: 'lobby', people: 4, rooms: 2, loss: 5, runs: false }])
  document.querySelector<HTMLButtonElement>('[aria-label="Remove lobby"]')?.click()
  await says('No test people')
})

test('a fault affects real requests until all faults are ended', async () => {
  const client = await operator()
  show(LabPage, client)
  await says('No faults active')
  await press('Add rule')
  await says('Simulated faults are active')
  expect(JSON.parse((await client.call('tester.send', send)).body)).toMatchObject({ ret: 700 })
  await press('End all faults')
  await says('No faults active')
  expect(JSON.parse((await client.call('tester.send', send)).body)).toMatchObject({ ret: 401 })
})

test('an invalid share is refused at its field', async () => {
  const client = await operator()
  show(LabPage, client)
  await write('Share (%)', '250')
  await press('Add rule')
  await says('At most 100')
  expect(await client.call('lab.faults')).toEqual([])
  await write('Share (%)', '')
  await press('Add rule')
  await says('Not a valid value')
  expect(await client.call('lab.faults')).toEqual([])
})

test('a delay out of range is refused at its field, and the current one stays', async () => {
  const client = await operator()
  await client.call('lab.node_trouble', { name: 'lab', mode: 'slow', delay_ms: 40 })
  show(LabPage, client)
  const delay = async (text: string): Promise<void> => {
    await write('Delay (ms)', text)
    ;(await fieldOf('Delay (ms)')).dispatchEvent(new Event('change', { bubbles: true }))
  }
  await delay('90000')
  await says('At most 60000')
  expect((await fieldOf('Delay (ms)')).value).toBe('90000')
  expect(await client.call('lab.state')).toMatchObject({ nodes: [{ mode: 'slow', delay_ms: 40 }] })
  await delay('60')
  await eventually(async () =>
    expect(await client.call('lab.state')).toMatchObject({ nodes: [{ mode: 'slow', delay_ms: 60 }] }),
  )
})

test('on a node with real media a fault asks for confirmation, shows on every page, and can be ended when the lab is off', async () => {
  const client = await operator()
  await client.call('nodes.add', { name: 'real', kind: 'embedded' })
  show(() => [h(FaultBanner), h(LabPage), h(ConfirmHost)], client)
  await says('No faults active')
  await press('Add rule')
  await says('Clients that call any operation of either API are affected: ret 700')
  await press('Cancel')
  expect(await client.call('lab.faults')).toEqual([])

  await press('Add rule')
  await says('Give wrong answers to real clients?')
  document.querySelector<HTMLElement>('[data-confirm]')?.click()
  await says('API faults are active until')
  await client.call('nodes.remove', { name: 'lab' })
  await says('No simulated node')
  await says('Every operation')
  await press('End it now')
  await eventually(async () => expect(await client.call('lab.faults')).toEqual([]))
  expect(JSON.parse((await client.call('tester.send', send)).body)).toMatchObject({ ret: 401 })
})

test('fault rules of two operators at once are both in force, and each removes only the own one', async () => {
  const client = await operator()
  show(LabPage, client)
  await says('No faults active')
  const other = { operation: 'get_room', ret: 404, minutes: 5 }
  await Promise.all([client.as({}).call('lab.set_faults', { rules: [other] }), press('Add rule')])
  const operations = async () => (await client.call('lab.faults')).map(({ operation }) => operation)
  await eventually(async () => expect(await operations()).toEqual(['get_room', '*']))
  await says('Every operation')
  await client
    .as({})
    .call('lab.set_faults', { rules: [{ ...other, operation: 'get_mcu' }, ...(await client.call('lab.faults'))] })
  document.querySelector<HTMLButtonElement>('[aria-label="Remove this rule: *"]')?.click()
  await eventually(async () => expect(await operations()).toEqual(['get_mcu', 'get_room']))
})

test('a device fault that the controller refuses stays in its field', async () => {
  const client = await operator()
  const rules = Array.from({ length: 100 }, (_, n) => ({ match: `10.0.0.${n}`, kind: 'auth' as const }))
  await client.call('lab.device_trouble', { name: 'lab', rules })
  show(LabPage, client)
  await write('Address contains', '10.0.1.7')
  await press('Add')
  await says('rules: ')
  await client.call('lab.state')
  await client.call('lab.state')
  expect((await fieldOf('Address contains')).value).toBe('10.0.1.7')
  expect((await client.call('lab.state')).nodes[0]?.device_rules).toEqual(rules)
})

test('a removed test camera returns with Undo, at its port and with its login', async () => {
  const client = await operator()
  await client.call('lab.put_camera', { name: 'yard', auth: 'digest', user: 'root', password: 'secret' })
  const before = await client.call('lab.cameras')
  show(LabPage, client)
  await says('yard')
  document.querySelector<HTMLButtonElement>('[aria-label="Remove yard"]')?.click()
  await says('No test camera')
  await press('Undo')
  await says('yard')
  expect(await client.call('lab.cameras')).toEqual(before)
})

test('a test camera that another operator removed meanwhile is refused; once it is back, it joins the room that was made before', async () => {
  const client = await operator()
  await client.call('nodes.remove', { name: 'lab' })
  await client.call('lab.put_camera', { name: 'yard' })
  show(LabPage, client)
  await press('Add to a room')
  document.querySelector<HTMLInputElement>('input[value="fresh"]')?.click()
  await client.call('lab.remove_camera', { camera: 'yard' })
  await press('Add')
  await says('This test camera no longer exists')
  await client.call('lab.put_camera', { name: 'yard' })
  await press('Add')
  await says('yard was added to the room')
  expect((await client.call('rooms.list', {})).total).toBe(1)
})

test('what another operator changes in the lab is on the page at once, and how often a rule still hits', async () => {
  const client = await operator()
  show(LabPage, client)
  await says('No rules: every device can join')
  const other = client.as({})
  await other.call('lab.device_trouble', { name: 'lab', rules: [{ match: '10.0.0.9', kind: 'auth' }] })
  await says('10.0.0.9')
  await other.call('lab.set_faults', { rules: [{ operation: '*', delay_ms: 1, minutes: 60 }] })
  await says('Every operation')
  const [every] = await other.call('lab.faults')
  await other.call('lab.set_faults', {
    rules: [{ operation: 'authenticate', ret: 401, times: 3, minutes: 5 }, ...(every ? [every] : [])],
  })
  await says('3 more')
  await client.call('tester.send', send)
  await says('2 more')
})
