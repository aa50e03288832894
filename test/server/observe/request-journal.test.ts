import { beforeEach, expect, test, vi } from 'vitest'
import { type ActivityAdded, RequestJournal } from '../../../server/observe/request-journal.ts'
import { activityEntry } from '../../../shared/console/activity.ts'
import { observation } from './observation.ts'
import { visitNames } from '../../../shared/room-entry.ts'

beforeEach(() => void vi.useFakeTimers())

/** A journal on a clock that a test sets. */
function open(capacity = 100) {
  const time = { now: 0 }
  const bound = { capacity }
  const known = { credential: () => true, room: () => false, user: () => false }
  const journal = new RequestJournal({ capacity: () => bound.capacity, known, monotonic: () => time.now })
  const seqs = (filter: object = {}) => journal.list({ search: '', limit: 500, ...filter }).items.map(({ seq }) => seq)
  return { journal, time, bound, seqs }
}

test('the newest entries come first, one page at a time', () => {
  const { journal, seqs } = open()
  for (let i = 0; i < 5; i++) journal.observe(observation())
  expect(seqs()).toEqual([5, 4, 3, 2, 1])
  expect(seqs({ limit: 2 })).toEqual([5, 4])
  expect(seqs({ limit: 2, before: 4 })).toEqual([3, 2])
})

test('an entry matches the console contract', () => {
  const { journal } = open()
  journal.observe(observation({ ret: 602, msg: 'no', reason: 'expired', params: new Map([['room_id', '1']]) }))
  const [entry] = journal.list({ search: '', limit: 1 }).items
  expect(activityEntry.parse(entry)).toMatchObject({ ret: 602, msg: 'no', reason: 'expired', params: { room_id: '1' } })
})

test('it never exceeds its limit, and follows changes of the limit', () => {
  const { journal, time, bound, seqs } = open(3)
  for (let i = 0; i < 5; i++) journal.observe(observation())
  expect(seqs()).toEqual([5, 4, 3])
  bound.capacity = 5
  time.now += 1_000
  for (let i = 0; i < 3; i++) journal.observe(observation())
  expect(seqs()).toEqual([8, 7, 6, 5, 4])
  bound.capacity = 2
  time.now += 1_000
  journal.observe(observation())
  expect(seqs()).toEqual([9, 8])
  expect(journal).toMatchObject({ kept: 2, capacity: 2 })
})

test('in a flood failures are kept in preference to successes, and the omitted number is reported', () => {
  const { journal, time } = open(10_000)
  for (let i = 0; i < 1_000; i++) {
    journal.observe(observation())
    journal.observe(observation({ ret: 404 }))
  }
  const outcomes = (outcome: 'ok' | 'failed') => journal.list({ search: '', limit: 10_000, outcome }).items.length
  expect([outcomes('ok'), outcomes('failed')]).toEqual([200, 500])
  expect(journal.skipped).toBe(1_300)
  time.now += 1_000
  journal.observe(observation())
  expect(outcomes('ok')).toBe(201)
})

test.each([
  [{ api: 'device' }, [2]],
  [{ operation: 'list_users' }, [3]],
  [{ outcome: 'ok' }, [3, 1]],
  [{ outcome: 'failed' }, [4, 2]],
  [{ outcome: 602 }, [4]],
  [{ credential: 'other' }, [3]],
  [{ room: '42' }, [4]],
  [{ client: '10.0.0.9' }, [2]],
  [{ search: 'REFUSED' }, [2]],
  [{ search: 'expired' }, [4]],
  [{ search: '10.0.0.8:554' }, [1]],
  [{ search: 'nothing like it' }, []],
  [{ outcome: 'failed', api: 'media' }, [4]],
])('filter %j', (filter, wanted) => {
  const { journal, seqs } = open()
  journal.observe(observation({ params: new Map([['userAddress', 'rtsp://10.0.0.8/live']]) }))
  journal.observe(observation({ api: 'device', ret: 426, client: '10.0.0.9', msg: 'The device refused the login.' }))
  journal.observe(observation({ operation: 'list_users', credential: 'other' }))
  journal.observe(observation({ ret: 602, room: '42', reason: 'the session has expired' }))
  expect(seqs(filter)).toEqual(wanted)
})

test('an export is NDJSON, oldest first', () => {
  const { journal } = open(2)
  for (const ret of [0, 404, 602]) journal.observe(observation({ ret }))
  const lines = journal.export({ search: '' }).trimEnd().split('\n')
  expect(lines.map((line) => (JSON.parse(line) as { ret: number }).ret)).toEqual([404, 602])
})

test('clearing removes the entries, and numbers continue', () => {
  const { journal, seqs } = open()
  journal.observe(observation())
  journal.clear()
  expect(seqs()).toEqual([])
  journal.observe(observation())
  expect(seqs()).toEqual([2])
})

test('listeners are notified of all entries, at most four times a second', () => {
  const { journal } = open()
  const told: ActivityAdded[] = []
  const stop = journal.onAdded((added) => void told.push(added))
  for (let i = 0; i < 3; i++) journal.observe(observation())
  expect(told).toEqual([])
  vi.advanceTimersByTime(250)
  expect(told).toMatchObject([{ kept: 3, skipped: 0 }])
  expect(told[0]?.items.map(({ seq }) => seq)).toEqual([1, 2, 3])
  vi.advanceTimersByTime(2_000)
  expect(told).toHaveLength(1)
  stop()
  journal.observe(observation())
  expect(vi.getTimerCount()).toBe(0)
})

test('listeners are notified at once that the journal was cleared, without its old entries', () => {
  const { journal } = open()
  const told: ActivityAdded[] = []
  journal.onAdded((added) => void told.push(added))
  journal.observe(observation())
  journal.clear()
  expect(told).toEqual([{ items: [], kept: 0, skipped: 0 }])
  vi.advanceTimersByTime(1_000)
  expect(told).toHaveLength(1)
})

test('slow requests and those since a given time can be selected', () => {
  const { journal, seqs } = open()
  journal.observe(observation({ at: 1_000, duration: 5 }))
  journal.observe(observation({ at: 2_000, duration: 500 }))
  journal.observe(observation({ at: 3_000, duration: 9 }))
  expect(seqs({ slower_than: 9 })).toEqual([3, 2])
  expect(seqs({ since: 3_000 })).toEqual([3])
  expect(seqs({ since: 1_500, slower_than: 100 })).toEqual([2])
})

test('secrets are never stored', () => {
  const { journal } = open()
  const params = new Map<string, unknown>([
    ['access_key', 'demo_access'],
    ['access_token', 'TOPSECRET'],
    ['access_tocken', 'TOPSECRET'],
    ['accessToken', 'TOPSECRET'],
    ['token', 'TOPSECRET'],
    ['digest', 'TOPSECRET'],
    ['host_password', 'TOPSECRET'],
    ['Secret_Key', 'TOPSECRET'],
    ['userAddress', 'rtsp://admin:TOP@SEC/RET@10.0.0.9:554/h264'],
    ['options', '{"login_name":"admin","login_password":"TOPSECRET","assist_address":"rtsp://a:TOPSECRET@h/"}'],
    ['topic', 'call rtsp://admin:TOPSECRET@10.0.0.9/'],
  ])
  journal.observe(observation({ params }))
  journal.observe(
    observation({ params: new Map([['options', { login_password: 'TOPSECRET', deep: [{ token: 'TOPSECRET' }] }]]) }),
  )
  journal.observe(observation({ params: new Map([['options', '{"login_password":"TOPSECRET"']]) }))
  const text = journal.export({ search: '' })
  expect(text).not.toMatch(/SECRET|SEC\/RET|TOP@/)
  expect(text).toContain('rtsp://[redacted]@10.0.0.9:554/h264')
  expect(text).toContain('demo_access')
  expect(text).toContain('admin')
})

test('the input of a caller cannot make it grow', () => {
  const { journal } = open()
  const params = new Map(Array.from({ length: 4_000 }, (_, i) => [`name${i}`.padEnd(200, 'x'), 'v'.repeat(5_000)]))
  journal.observe(observation({ params, path: '/'.repeat(8_000), room: 'r'.repeat(5_000), msg: 'm'.repeat(5_000) }))
  expect(journal.export({ search: '' }).length).toBeLessThan(16_000)
})

test('a parameter called __proto__ is an ordinary one', () => {
  const { journal } = open()
  journal.observe(observation({ params: new Map([['__proto__', 'x']]) }))
  const [entry] = journal.list({ search: '', limit: 1 }).items
  expect(Object.entries(entry?.params ?? {})).toEqual([['parameter 1 [9 characters]', '[1 character]']])
})

test('a visit shows its page, and a guessed room only if that is harmless', () => {
  const { journal } = open()
  const visit = { operation: visitNames.joinPage, path: '/jroom/', credential: '' }
  journal.observe(observation({ ...visit, room: 'TOPSECRET' }))
  journal.observe(observation({ ...visit, room: '4711' }))
  journal.observe(observation({ operation: visitNames.enterRoom, path: '/signal', room: 'TOPSECRET', ret: 404 }))
  const { items } = journal.list({ search: '', limit: 3 })
  expect(items.map(({ path, room }) => [path, room])).toEqual([
    ['/signal', ''],
    ['/jroom/', '4711'],
    ['/jroom/', ''],
  ])
})
