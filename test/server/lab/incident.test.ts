import { expect, test } from 'vitest'
import type { ActivityEntry } from '../../../shared/console/activity.ts'
import type { EventEntry } from '../../../shared/domain/events.ts'
import { incidentOf } from '../../../server/lab/scenarios/incident.ts'

const at = 1_000

const happened = (kind: EventEntry['kind'], subject: EventEntry['subject']): EventEntry => ({
  ...{ seq: 1, at, kind, level: 'info', actor: { type: 'system', name: '', address: '' }, params: {} },
  ...{ subject, room: 'r1', prev: '', hash: '' },
})

const called = (operation: string, ret: number, params: Record<string, string>): ActivityEntry => ({
  ...{ seq: 1, at, api: 'media', operation, method: 'POST', path: '', ret, duration: 0, client: '', credential: 'c' },
  ...{ room: 'r1', params: { room_id: 'r1', ...params }, msg: '', reason: '', answer: '' },
})

test('Within a millisecond, a call comes after what it needs, and before what it ends', () => {
  const room = { type: 'room', id: 'r1', name: 'Yard' } as const
  const ann = { type: 'person', id: 'ann', name: 'Ann' } as const
  const { document } = incidentOf({
    ...{ from: 0, to: 2_000, product: '', nodes: [], licence: { expires_at: '', max_rooms: 0, max_users: 0 } },
    ...{ rooms: new Map(), cameras: [], people: [] },
    events: [
      happened('room.created', room),
      happened('person.joined', ann),
      happened('person.left', ann),
      happened('room.deleted', room),
    ],
    calls: [called('force_offline', 0, { user_id: 'ann' }), called('get_room', 404, {})],
  })
  const { steps } = document as { steps: { api?: string; call?: string; ret?: number }[] }
  expect(steps.map(({ api, call, ret }) => `${api ?? call ?? ''} ${ret ?? ''}`.trim())).toEqual([
    'create_room 0',
    'lab.join',
    'force_offline 0',
    'delete_room 0',
    'get_room 404',
  ])
})
