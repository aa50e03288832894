import { expect, test } from 'vitest'
import { h } from 'vue'
import RecordingSection from '../../../renderer/console/components/recording/RecordingSection.vue'
import RunningOrders from '../../../renderer/console/pages/recordings/RunningOrders.vue'
import AppMenu from '../../../renderer/kit/menu/AppMenu.vue'
import type { ProcedureName } from '../../../shared/console/contract.ts'
import type { ConsoleClient } from '../../../renderer/kit/transport/client.ts'
import ConfirmHost from '../../../renderer/console/components/ConfirmHost.vue'
import { showLanguage } from '../../../renderer/console/i18n/index.ts'
import OrderedPage from '../../../renderer/console/pages/OrderedPage.vue'
import { answeringConsole } from '../answering-console.ts'
import { operator, pageText, press, says, show } from '../devices/operator-page.ts'

test('An empty list tells the operator who can order recordings, in three languages', async () => {
  show(() => [h(OrderedPage), h(ConfirmHost)], await operator())
  await says('Nobody has ordered a recording')
  expect(pageText()).toContain('Time line')
  await showLanguage('zh')
  await says('还没有文件录制')
  await showLanguage('de')
  await says('Noch keine Dateiaufzeichnungen')
  await showLanguage('en')
})

test('A viewer who types the address reads that they have no access to the list', async () => {
  show(OrderedPage, (await operator()).as({ role: 'viewer' }))
  await says('Try again')
  expect(pageText()).not.toContain('Ordered by')
})

test('The list names who ordered each recording; one stored by an earlier version shows an operator', async () => {
  const site = await operator()
  const { room_id } = await site.call('rooms.create', { topic: 'Yard' })
  await site.as({ role: 'operator', account: 'ann' }).call('orders.record', { room_id, name: 'Shift' })
  const { items } = await site.call('orders.recordings', {})
  expect(items).toMatchObject([{ name: 'Shift', ordered_by: 'ann' }])
  // The panel of the room names them, too, and offers no button that would not end it.
  const states = await site.call('recordings.states', {})
  expect(states.items).toMatchObject([{ room_id, by: 'order', started_by: 'ann' }])
  const section = show(RecordingSection, site, { roomId: room_id, name: 'Yard' })
  await says('Rule:')
  expect(section.text()).not.toMatch(/Stop recording|Record room/)
  section.unmount()
  const [shift] = items
  const listed = [
    { ...shift, id: '2', name: 'Gate', created_by: 'cams_of_gate', ordered_by: '' },
    { ...shift, id: '3', name: 'Old', ordered_by: '' },
    { ...shift, id: '4', name: 'Script', ordered_by: 'console key' },
  ]
  const client = {
    ...site,
    call: (name: ProcedureName, input: never) =>
      name === 'orders.recordings'
        ? Promise.resolve({ total: 4, items: [...items, ...listed] })
        : site.call(name, input),
  } as ConsoleClient
  const page = show(OrderedPage, client)
  await says('Script')
  const rows = page.findAll('[role="row"]').map((row) => row.text())
  for (const [name, by] of [
    ['Shift', 'ann'],
    ['Gate', 'cams_of_gate'],
    ['Old', 'An operator'],
    ['Script', 'Console key'],
  ])
    expect(rows).toContainEqual(expect.stringMatching(new RegExp(`${name}.*${by}`, 's')))
})

test('The panel of a camera starts a file recording and a live stream, shows both and stops them after a confirmation', async () => {
  const facts = { room_id: '1', user_id: 'yard', name: 'Yard', created_at: 1, ended_at: 0, files: [], reason: '' }
  const lists = {
    'orders.recordings': [] as object[],
    'orders.lives': [{ ...facts, id: 'past', state: 'stopped', ended_at: 2, page_url: '' }] as object[],
  }
  const calls: [string, unknown][] = []
  const client = answeringConsole((name, input) => {
    if (name === 'orders.recordings' || name === 'orders.lives') return { items: lists[name] }
    if (name === 'account.me') return { role: 'operator' }
    if (!name.startsWith('orders.')) return new Promise(() => undefined)
    calls.push([name, input])
    if (name === 'orders.record') lists['orders.recordings'].push({ ...facts, id: 'file', state: 'recording' })
    if (name === 'orders.stream')
      lists['orders.lives'].unshift({ ...facts, id: 'live', state: 'waiting', page_url: 'https://x/live' })
    if (name === 'orders.stop_live') lists['orders.lives'].shift()
    return {}
  })
  const target = { roomId: '1', userId: 'yard', name: 'Yard' }
  const shown = show(() => [h(RunningOrders, { target }), h(ConfirmHost)], client)
  await says('No file recording or live stream is running')
  await press('Record to a file')
  await press('Stream live…')
  await says('Anyone with the address of the stream can watch it')
  await press('Start stream')
  await says('Recording')
  await says('Waiting')
  expect(shown.findAll('li')).toHaveLength(2)
  const live = shown
    .findAllComponents(AppMenu)
    .find((menu) => menu.props('items').some(({ key }) => key === 'copyPage'))
  live?.vm.$emit('choose', 'stop')
  await says('The stream ends for all viewers')
  await press('Stop')
  await expect.poll(() => shown.findAll('li')).toHaveLength(1)
  const wanted = { room_id: '1', user_id: 'yard', name: 'Yard' }
  expect(calls).toEqual([
    ['orders.record', wanted],
    ['orders.stream', wanted],
    ['orders.stop_live', { id: 'live' }],
  ])
})
