import { expect, onTestFinished, test } from 'vitest'
import { allOperations } from '../../../shared/operations.ts'
import type { EventDraft } from '../../../server/event-log/event-log.ts'
import { PeopleNames } from '../../../server/event-log/people-names.ts'
import { ClientEvents } from '../../../server/event-log/sources/clients.ts'
import { observation } from '../observe/observation.ts'
import { temporaryStore } from '../../support/sites/store-site.ts'

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

test('Every operation that changes or makes something leaves an event of its client, and only its success does', async () => {
  const site = await temporaryStore()
  onTestFinished(() => site.remove())
  const { store } = site
  const events: EventDraft[] = []
  const sink = {
    append: (draft: EventDraft) => void events.push(draft),
    passing: <D>(_: string, make: () => D): D => make(),
  }
  const observer = new ClientEvents(store, sink, new PeopleNames())
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
  expect(silent.sort()).toEqual(withoutEvent)
})
