import { expect, test } from 'vitest'
import { h, ref } from 'vue'
import RecentCalls from '../../../renderer/console/components/RecentCalls.vue'
import { useActivity } from '../../../renderer/console/composables/useActivity.ts'
import type { ActivityEntry } from '../../../shared/console/activity.ts'
import { operator, says, show } from '../devices/operator-page.ts'
import { eventually } from '../eventually.ts'
import { slowConsole } from './slow-console.ts'

const entry = (seq: number, operation = 'get_room'): ActivityEntry => ({
  ...{ seq, operation, at: seq, api: 'media', method: 'GET', path: `/${operation}`, ret: 0, duration: 1 },
  ...{ client: '', credential: '', room: '', params: {}, msg: '', reason: '', answer: '' },
})
const answer = (...items: ActivityEntry[]) => ({ items, kept: items.length, capacity: 1_000, skipped: 0 })
const added = (...items: ActivityEntry[]) =>
  ({ name: 'activity.added', payload: { items, kept: 10, skipped: 0 } }) as const

/** A mounted list of requests. */
function list(operation?: string) {
  const page = slowConsole()
  const filter = ref(operation === undefined ? {} : { operation })
  const held = ref(false)
  const mounted: ReturnType<typeof useActivity>[] = []
  show({ setup: () => (mounted.push(useActivity(filter, { held })), () => h('p')) }, page.client)
  const [feed] = mounted
  if (feed === undefined) throw new Error('not mounted')
  return { ...page, ...feed, filter, held, numbers: () => feed.items.value.map(({ seq }) => seq) }
}

test('A request that is both in the answer and in an event is listed once', async () => {
  const client = await operator()
  await client.call('credentials.create', { label: 'Lobby', access_key: 'lobby', secret_key: 'lobby-secret' })
  const reported = new Promise<void>((resolve) => client.on('activity.added', () => resolve()))
  await client.call('tester.send', {
    api: 'media',
    operation: 'get_room',
    access_key: 'lobby',
    params: { room_id: '1' },
  })
  const shown = show(RecentCalls, client, { filter: { operation: 'get_room' } })
  await says('get_room')
  await reported
  await shown.vm.$nextTick()
  expect(shown.findAll('time')).toHaveLength(1)
})

test('Entries that arrive before the answer are kept, each once and newest first', async () => {
  const { call, send, numbers } = list('get_room')
  const first = await call(0, 'activity.list')
  send(added(entry(3), entry(4, 'authenticate')))
  send(added(entry(6), entry(5)))
  first.answer(answer(entry(3), entry(1)))
  await eventually(() => expect(numbers()).toEqual([6, 5, 3, 1]))
  send(added(entry(5), entry(7)))
  expect(numbers()).toEqual([7, 6, 5, 3, 1])
})

test('While the list is held, new entries wait and are counted', async () => {
  const { call, send, numbers, held, waiting } = list()
  const first = await call(0, 'activity.list')
  first.answer(answer(entry(1)))
  await eventually(() => expect(numbers()).toEqual([1]))
  held.value = true
  send(added(entry(2)))
  send(added(entry(2), entry(3)))
  expect(numbers()).toEqual([1])
  expect(waiting.value).toHaveLength(2)
  held.value = false
  await eventually(() => expect(numbers()).toEqual([3, 2, 1]))
})

test('An answer for an earlier filter is dropped; older entries follow the present ones', async () => {
  const { call, numbers, filter, older } = list('get_room')
  const late = await call(0, 'activity.list')
  filter.value = { operation: 'authenticate' }
  const second = await call(1, 'activity.list')
  const page = Array.from({ length: 500 }, (_, index) => entry(1_000 - index, 'authenticate'))
  second.answer(answer(...page))
  late.answer(answer(entry(2_000)))
  await eventually(() => expect(numbers()).toHaveLength(500))
  void older()
  const third = await call(2, 'activity.list')
  expect(third.input).toEqual({ operation: 'authenticate', before: 501, limit: 500 })
  third.answer(answer(entry(7, 'authenticate')))
  await eventually(() => expect(numbers().slice(-2)).toEqual([501, 7]))
})

test('A cleared journal empties the list, and a reconnection reads it again', async () => {
  const { call, send, numbers, reconnect } = list()
  const first = await call(0, 'activity.list')
  first.answer(answer(entry(2), entry(1)))
  await eventually(() => expect(numbers()).toEqual([2, 1]))
  send({ name: 'activity.added', payload: { items: [], kept: 0, skipped: 0 } })
  expect(numbers()).toEqual([])
  reconnect()
  const second = await call(1, 'activity.list')
  second.answer(answer(entry(1)))
  await eventually(() => expect(numbers()).toEqual([1]))
})
