import { expect, onTestFinished, test } from 'vitest'
import { allOperations } from '../../../shared/operations.ts'
import type { EventDraft } from '../../../server/event-log/event-log.ts'
import { PeopleNames } from '../../../server/event-log/site-state.ts'
import { GatheringSink } from '../../../server/event-log/gathering-sink.ts'
import { ClientEvents } from '../../../server/event-log/sources/clients.ts'
import { causedBy } from '../../../server/store/change-cause.ts'
import { collectingSink } from '../../support/collecting-sink.ts'
import { liveRecord } from '../../support/made-capabilities.ts'
import { observation } from '../observe/observation.ts'
import { room, temporaryStore } from '../../support/sites/store-site.ts'

/** Operations that change nothing and make nothing. */
const withoutEvent = [
  'authenticate',
  'find_lives',
  'find_records',
  'get_access_token',
  'get_live',
  'get_mcu',
  'get_record',
  'get_room',
  'get_room_by_extend_id',
  'get_user_number',
  'list_outgoing_users',
  'list_users',
  'live_get',
  'live_list',
  'recording_get',
  'recording_list',
  'server_info',
]

/** Operations whose success leaves an event only with a change: repeating them ends nothing. */
const endings = ['live_stop', 'recording_stop', 'stop_live', 'stop_record']

test('Every operation that changes or creates an object logs an event of its client, only on success', async () => {
  const site = await temporaryStore()
  onTestFinished(() => site.remove())
  const { store } = site
  const events: EventDraft[] = []
  const observer = new ClientEvents(store, collectingSink(events), new PeopleNames())
  const silent: string[] = []
  for (const { name } of allOperations) {
    const params = new Map([
      ['id', '7'],
      ['user_id', 'ann'],
      ['userId', 'cam'],
    ])
    observer.observe(observation({ operation: name, ret: 600, params }))
    expect([name, events]).toEqual([name, []])
    observer.observe(observation({ operation: name, ret: 0, room: 'room', params }))
    const [event] = events.splice(0)
    if (event === undefined) silent.push(name)
    else {
      expect(event.actor).toEqual({ type: 'client', name: 'demo_access', address: '10.0.0.1' })
      expect([name, event.subject.id, event.params?.operation]).toEqual([name, event.subject.id, name])
      expect(event.subject.id).not.toBe('')
    }
  }
  expect(silent.sort()).toEqual([...withoutEvent, ...endings].sort())
})

test('The events of a live stream name it and its room, from its start to its deletion', async () => {
  const site = await temporaryStore()
  onTestFinished(() => site.remove())
  const { store } = site
  const events = new ClientEvents(store, collectingSink(), new PeopleNames())
  const live = liveRecord('41', 'capability', 'living')
  await store.transact([], (transaction) => transaction.put('rooms', live.room_id, room(live.room_id, 1, 'Yard')))
  const change = async (operation: string, value?: typeof live) => {
    // Only the call that orders it names the room.
    const call =
      operation === 'live_start'
        ? { room: live.room_id, parameters: new Map([['room_id', live.room_id]]) }
        : { room: '', parameters: new Map([['id', live.id]]) }
    const cause = events.of(operation, call, { client: '10.0.0.1', accessKey: 'demo_access' })
    if (cause === undefined) throw new Error(`${operation} leaves no event.`)
    await causedBy(cause, () =>
      store.transact(['lives'], (transaction) => {
        if (value === undefined) transaction.delete('lives', live.id)
        else transaction.put('lives', live.id, value)
      }),
    )
  }
  await change('live_start', live)
  await change('live_stop', { ...live, state: 'stopped' })
  await change('live_delete')
  const named = { subject: { type: 'recording', id: '41' }, room: live.room_id, params: { id: '41', room: 'Yard' } }
  expect([...store.all('pending_events').values()]).toMatchObject([
    { kind: 'live.ordered', ...named },
    { kind: 'live.ended', ...named },
    { kind: 'live.deleted', ...named },
  ])
})

test('The event of a room that a client changes or deletes has the values before and after; a new room has none before', async () => {
  const site = await temporaryStore()
  onTestFinished(() => site.remove())
  const { store } = site
  const events = new ClientEvents(store, collectingSink(), new PeopleNames())
  const call = async (operation: string, value?: ReturnType<typeof room>) => {
    const cause = events.of(
      operation,
      { room: 'yard', parameters: new Map() },
      { client: '10.0.0.1', accessKey: 'demo_access' },
    )
    if (cause === undefined) throw new Error(`${operation} leaves no event.`)
    await causedBy(cause, () =>
      store.transact([], (transaction) => {
        if (value === undefined) transaction.delete('rooms', 'yard')
        else transaction.put('rooms', 'yard', value)
      }),
    )
  }
  const made = room('yard', 1, 'Yard')
  await call('create_room', made)
  await call('update_room', { ...made, topic: 'Court', attendee_max: 7, host_password_sealed: 'sealed' })
  await call('delete_room')
  const [created, changed, deleted] = [...store.all('pending_events').values()]
  expect(created).toMatchObject({ kind: 'room.created' })
  expect(created).not.toHaveProperty('after')
  expect(changed).toMatchObject({
    kind: 'room.changed',
    before: { topic: 'Yard', attendee_max: made.attendee_max, host_password: '' },
    after: { topic: 'Court', attendee_max: 7, host_password: '[redacted]' },
  })
  expect(deleted).toMatchObject({ kind: 'room.deleted', before: { topic: 'Court' }, after: {} })
})

test('In a flood of new rooms, the first events are stored with their rooms, and the number of the others is logged', async () => {
  const site = await temporaryStore()
  onTestFinished(() => site.remove())
  const { store } = site
  const logged: EventDraft[] = []
  const sink = new GatheringSink({ append: (draft) => void logged.push(draft) })
  const events = new ClientEvents(store, sink, new PeopleNames())
  const caller = { client: '10.0.0.1', accessKey: 'demo_access' }
  let withoutCause = 0
  for (let number = 1; number <= 250; number++) {
    const roomId = `room ${number}`
    const cause = events.of('create_room', { room: '', parameters: new Map() }, caller)
    const create = () =>
      store.transact([], (transaction) => transaction.put('rooms', roomId, room(roomId, number, 'Yard')))
    await (cause === undefined ? create() : causedBy(cause, create))
    if (cause === undefined) withoutCause++
    events.observe(
      observation({ operation: 'create_room', ret: 0, room: roomId, isRecorded: cause?.isRecorded ?? false }),
    )
  }
  sink.close()
  const stored = store.all('pending_events').size
  expect(stored).toBeGreaterThanOrEqual(200)
  expect(withoutCause).toBe(250 - stored)
  const gathered = logged.filter(({ kind }) => kind === 'log.gathered')
  const counted = gathered.reduce((sum, { params }) => sum + Number(params?.count), 0)
  expect(stored + counted + (logged.length - gathered.length)).toBe(250)
})
