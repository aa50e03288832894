import { expect, test } from 'vitest'
import type { Asked, Call, Outcome } from './history.ts'
import { violations } from './history-checker.ts'

const done: Outcome = { as: 'done' }
const open: Outcome = { as: 'open' }
const noRoom: Outcome = { as: 'noRoom' }
const exists: Outcome = { as: 'exists' }
const create = (topic = 'one', room = 'r'): Asked => ({ do: 'create', room, topic })
const update = (topic: string): Asked => ({ do: 'update', room: 'r', topic })
const remove: Asked = { do: 'delete', room: 'r' }
const get: Asked = { do: 'get', room: 'r' }
const list: Asked = { do: 'list', owner: 'o' }
const read = (topic: string, id = 1, room = 'r'): Outcome => ({ as: 'done', seen: { room, topic, id } })
const rooms = (...seen: { room: string; topic: string; id: number }[]): Outcome => ({ as: 'done', rooms: seen })

/** Makes a call that lasts from one moment to another, of the first client at the first address by default. */
function call(
  start: number,
  end: number,
  asked: Asked,
  outcome: Outcome,
  who: { client?: string; at?: string } = {},
): Call {
  return { client: who.client ?? 'c1', at: who.at ?? 'a', owner: 'o', asked, outcome, start, end }
}

/** Makes consecutive calls. */
function inTurn(...calls: [Asked, Outcome, { client?: string; at?: string }?][]): Call[] {
  return calls.map(([asked, outcome, who], index) => call(index * 10, index * 10 + 5, asked, outcome, who))
}

test('Consecutive calls of one site are in order', () => {
  expect(
    violations(
      inTurn(
        [get, noRoom],
        [create('one'), done],
        [create('two'), exists],
        [get, read('one')],
        [update('three'), done],
        [list, rooms({ room: 'r', topic: 'three', id: 1 })],
        [remove, done],
        [remove, noRoom],
        [update('four'), noRoom],
        [list, rooms()],
        [create('five'), done],
        [get, read('five', 2)],
      ),
    ),
  ).toEqual([])
})

test('Calls at the same time may have happened in either order', () => {
  const both = [call(0, 10, create('one'), done), call(0, 10, create('two'), exists, { client: 'c2' })]
  expect(violations(both)).toEqual([])
  expect(violations([...both, call(1, 2, get, read('one'))])).toEqual([])
  expect(violations([...both, call(1, 2, get, noRoom)])).toEqual([])
  expect(violations([...both, call(11, 12, get, noRoom)])).not.toEqual([])
})

test.each<[string, Call[]]>([
  ['An acknowledged room is lost', inTurn([create(), done], [get, noRoom])],
  ['… and a list shows it', inTurn([create(), done], [list, rooms()])],
  ['… though it was there once', inTurn([create(), done], [get, read('one')], [get, noRoom, { at: 'b' }])],
  ['A change of a room is lost', inTurn([create(), done], [update('two'), done], [get, read('one')])],
  ['A deleted room comes back', inTurn([create(), done], [remove, done], [get, read('one')])],
  ['… after it was seen to be gone', inTurn([create(), open], [remove, done], [get, noRoom], [get, read('one')])],
  ['A deletion is applied without a request', inTurn([create(), done], [update('two'), noRoom])],
  [
    'A room is created twice: the second creation finds it',
    [call(0, 5, create(), exists), call(10, 15, get, read('one'))],
  ],
  [
    'A change is applied twice, the second time over a later one',
    inTurn([create(), done], [update('two'), done], [update('three'), done], [get, read('three')], [get, read('two')]),
  ],
  ['A deletion is applied twice', inTurn([create(), done], [remove, noRoom])],
  [
    'Two rooms have one number',
    inTurn(
      [create(), done],
      [get, read('one', 7)],
      [create('x', 'q'), done],
      [{ ...get, room: 'q' }, read('x', 7, 'q')],
    ),
  ],
  [
    'A new room has the number of a deleted one',
    inTurn([create(), done], [get, read('one', 7)], [remove, done], [create('two'), done], [get, read('two', 7)]),
  ],
  [
    'The site gives one room_id to two rooms',
    inTurn([create('one', '123'), done], [create('two', '123'), done, { client: 'c2' }]),
  ],
  [
    'One creation makes two rooms',
    inTurn(
      [create('one', '123'), done],
      [list, rooms({ room: '123', topic: 'one', id: 1 }, { room: '456', topic: 'one', id: 2 })],
    ),
  ],
  [
    'A read of a client goes back in time at another address',
    [
      call(0, 5, create('one'), done),
      call(10, 100, update('two'), open),
      call(20, 25, get, read('two'), { client: 'c2', at: 'b' }),
      call(30, 35, get, read('one'), { client: 'c2', at: 'c' }),
    ],
  ],
  [
    'A read shows the state before a change that was acknowledged to another client',
    inTurn([create('one'), done], [update('two'), done], [get, read('one'), { client: 'c2', at: 'late leader' }]),
  ],
  [
    'A device is lost',
    inTurn(
      [create(), done],
      [{ do: 'addDevice', room: 'r', user: 'u' }, done],
      [
        { do: 'devices', room: 'r' },
        { as: 'done', users: [] },
      ],
    ),
  ],
  [
    'A device stays in a room that was deleted',
    inTurn(
      [create(), done],
      [{ do: 'addDevice', room: 'r', user: 'u' }, done],
      [remove, done],
      [
        { do: 'devices', room: 'r' },
        { as: 'done', users: ['u'] },
      ],
    ),
  ],
  ['A controller gives a forbidden answer', inTurn([get, { as: 'wrong', answer: '200 {"ret":602}' }])],
])('%s: that is a violation', (_, history) => {
  expect(violations(history)).not.toEqual([])
  // Adds unrelated calls at the same time.
  const beside = inTurn([create('other', 's'), done], [get, open], [update('never'), open])
    .filter(({ asked }) => asked.do !== 'update')
    .map((one) => ({ ...one, client: 'c9' }))
  expect(violations([...history, ...beside])).not.toEqual([])
})

test('A change with unknown outcome is applied once or not at all, and then stays so', () => {
  const change = call(0, 5, create('one'), open)
  const later = (start: number, outcome: Outcome): Call => call(start, start + 1, get, outcome)
  expect(violations([change, later(10, noRoom)])).toEqual([])
  expect(violations([change, later(10, read('one'))])).toEqual([])
  // The change may be applied late.
  expect(violations([change, later(10, noRoom), later(20, read('one'))])).toEqual([])
  expect(violations([change, later(10, read('one')), later(20, noRoom)])).not.toEqual([])
  expect(violations([change, later(10, read('other'))])).not.toEqual([])
  // The change is applied once, even if late.
  const gone = [later(10, read('one')), call(20, 25, remove, done)]
  expect(violations([change, ...gone, later(30, noRoom)])).toEqual([])
  expect(violations([change, ...gone, later(30, read('one'))])).not.toEqual([])
})

test('A request that no controller received was not applied', () => {
  expect(violations(inTurn([create(), { as: 'unasked' }], [get, read('one')]))).not.toEqual([])
})

test('Many clients on one room, with changes of unknown outcome, are judged quickly', () => {
  const history: Call[] = []
  for (let turn = 0; turn < 40; turn++) {
    const at = turn * 10
    history.push(call(at, at + 9, turn === 0 ? create('t0') : update(`t${turn}`), done))
    for (let client = 2; client < 6; client++)
      history.push(call(at + 1, at + 30, get, read(`t${turn}`), { client: `c${client}.${turn}` }))
    if (turn % 4 === 0) history.push(call(at, at + 5, update(`open${turn}`), open, { client: `d${turn}` }))
  }
  expect(violations(history)).toEqual([])
  history.push(call(1_000, 1_001, get, read('t3')))
  expect(violations(history)).toHaveLength(1)
})
