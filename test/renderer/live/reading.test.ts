import { expect, test } from 'vitest'
import { h, nextTick, ref } from 'vue'
import { useReading } from '../../../renderer/console/live/useReading.ts'
import type { ConsoleClient } from '../../../renderer/kit/transport/client.ts'
import type { WaitingView } from '../../../shared/domain/waiting.ts'
import { operator, says, show } from '../devices/operator-page.ts'
import { eventually } from '../eventually.ts'
import { slowConsole } from './slow-console.ts'

/** Mounts a component that uses something, and returns it. */
function use<T>(client: ConsoleClient, setup: () => T): T & { unmount(): void } {
  let used: T | undefined
  const shown = show({ setup: () => ((used = setup()), () => h('p')) }, client)
  if (used === undefined) throw new Error('not mounted')
  return { ...used, unmount: () => shown.unmount() }
}

/** Resolves after pending promises and throttled refreshes. */
const rest = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50))

const waitingFor = (...names: string[]): WaitingView => ({
  items: names.map((user_name) => ({ room_id: '1', topic: 'Hall', user_id: user_name, user_name, since: 0 })),
  total: names.length,
})
const roomsChanged = (...room_ids: string[]) => ({ name: 'rooms.changed', payload: { room_ids, all: false } }) as const

test('A page shows what another operator changed, by the events that the procedure declares', async () => {
  const client = await operator()
  show(
    {
      setup() {
        const { value } = useReading('rooms.tags')
        return () => h('p', value.value?.map(({ tag }) => tag).join() ?? '')
      },
    },
    client,
  )
  await client.as({}).call('rooms.create', { topic: 'Hall', tags: ['north wing'] })
  await says('north wing')
})

test('An answer for an earlier input is dropped, and the value of that input is not shown for the next one', async () => {
  const { client, call } = slowConsole()
  const id = ref('a')
  const reading = use(client, () => useReading('devices.pictures', () => ({ userId: id.value })))
  const first = await call(0, 'devices.pictures')
  first.answer({ items: [{ at: 1, width: 1, height: 1, bytes: 1 }] })
  await eventually(() => expect(reading.value.value?.items).toHaveLength(1))
  void reading.refresh()
  const late = await call(1, 'devices.pictures')
  id.value = 'b'
  const second = await call(2, 'devices.pictures')
  expect(second.input).toEqual({ userId: 'b' })
  expect(reading.value.value).toBeUndefined()
  second.answer({ items: [] })
  late.answer({ items: [{ at: 2, width: 1, height: 1, bytes: 1 }] })
  await rest()
  expect(reading.value.value).toEqual({ items: [] })
})

test('Events during a call cause one further call, after its answer', async () => {
  const { client, call, calls, send } = slowConsole()
  const reading = use(client, () => useReading('rooms.tags', {}, { throttleMs: 1 }))
  const first = await call(0, 'rooms.tags')
  first.answer([])
  await eventually(() => expect(reading.value.value).toEqual([]))
  send(roomsChanged('1'))
  const second = await call(1, 'rooms.tags')
  for (let event = 0; event < 5; event++) {
    send(roomsChanged('1'))
    await rest()
  }
  expect(calls).toHaveLength(2)
  second.answer([{ tag: 'north', count: 1 }])
  await call(2, 'rooms.tags')
  expect(reading.value.value).toEqual([{ tag: 'north', count: 1 }])
})

test('A value that an event carries is shown without a call, also if an older answer arrives after it', async () => {
  const { client, call, calls, send } = slowConsole()
  const reading = use(client, () =>
    useReading('waiting.list', {}, { updates: { 'waiting.changed': (_before, view) => view } }),
  )
  const first = await call(0, 'waiting.list')
  send({ name: 'waiting.changed', payload: waitingFor('Ann') })
  first.answer(waitingFor())
  await eventually(() => expect(reading.value.value).toEqual(waitingFor('Ann')))
  send({ name: 'waiting.changed', payload: waitingFor('Ann', 'Ben') })
  expect(reading.value.value).toEqual(waitingFor('Ann', 'Ben'))
  await rest()
  expect(calls).toHaveLength(1)
})

test('An event that names other rooms causes no call', async () => {
  const { client, send } = slowConsole()
  let reads = 0
  use(client, () => useReading('rooms.get', { room_id: '1' }, { throttleMs: 1, read: () => Promise.resolve(++reads) }))
  await rest()
  send(roomsChanged('2', '3'))
  await rest()
  expect(reads).toBe(1)
  send(roomsChanged('2', '1'))
  await eventually(() => expect(reads).toBe(2))
})

test('The value stays while the connection is lost; it is read again with the next one, and no longer after the page', async () => {
  const { client, call, calls, send, reconnect } = slowConsole()
  const reading = use(client, () => useReading('rooms.tags'))
  const first = await call(0, 'rooms.tags')
  first.answer([{ tag: 'north', count: 1 }])
  await eventually(() => expect(reading.value.value).toHaveLength(1))
  reconnect()
  const second = await call(1, 'rooms.tags')
  second.refuse()
  await eventually(() => expect(reading.error.value).not.toBeNull())
  expect(reading.value.value).toHaveLength(1)
  reading.unmount()
  reconnect()
  send(roomsChanged('1'))
  await rest()
  expect(calls).toHaveLength(2)
})

test('Without an input nothing is read, and nothing of the previous input is shown', async () => {
  const { client, call, calls } = slowConsole()
  const id = ref<string>()
  const reading = use(client, () =>
    useReading('accounts.tokens', () => (id.value === undefined ? undefined : { id: id.value })),
  )
  await rest()
  expect(calls).toHaveLength(0)
  id.value = 'mia'
  const first = await call(0, 'accounts.tokens')
  first.answer([])
  await eventually(() => expect(reading.value.value).toEqual([]))
  id.value = undefined
  await nextTick()
  expect(reading.value.value).toBeUndefined()
})
