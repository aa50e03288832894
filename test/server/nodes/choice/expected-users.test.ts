import { expect, test } from 'vitest'
import { ExpectedUsers } from '../../../../server/nodes/pool/state/expected-users.ts'

test('users of a newly assigned room are expected until they join', () => {
  const expected = new ExpectedUsers(() => 0)
  expected.expect('r1', 'a', 2)
  expected.expect('r2', 'a', 0.5)
  expect(expected.on('a')).toBe(2.5)
  expected.came('r1', 'a')
  expect(expected.on('a')).toBe(1.5)
  expected.came('r1', 'a')
  expected.came('r1', 'a')
  expected.came('r2', 'a')
  expect(expected.on('a')).toBe(0)
})

test('users of a room that moves are expected on its new node only', () => {
  const expected = new ExpectedUsers(() => 0)
  expected.expect('r1', 'a', 2)
  expected.expect('r1', 'b', 3)
  expect([expected.on('a'), expected.on('b')]).toEqual([0, 3])
  expected.forget('r1')
  expect(expected.on('b')).toBe(0)
})

test('users of a secondary node are expected there, in addition to those of the room', () => {
  const expected = new ExpectedUsers(() => 0)
  expected.expect('r1', 'a', 2)
  expected.expectAt('r1', 'b', 1)
  expect([expected.on('a'), expected.on('b'), expected.in('r1')]).toEqual([2, 1, 2])
  expected.came('r1', 'b')
  expect([expected.on('a'), expected.on('b')]).toEqual([2, 0])
  expected.expectAt('r1', 'b', 1)
  expected.forget('r1')
  expect([expected.on('a'), expected.on('b')]).toEqual([0, 1])
  expect(expected.roomsOn('b')).toEqual([{ roomId: 'r1', users: 1 }])
  expected.forgetAt('r1', 'b')
  expect(expected.on('b')).toBe(0)
})

test('a user who does not join within half a minute is no longer expected', () => {
  let now = 0
  const expected = new ExpectedUsers(() => now)
  expected.expect('r1', 'a', 2)
  now = 20_000
  expected.expect('r2', 'a', 3)
  now = 31_000
  expected.expire()
  expect(expected.on('a')).toBe(3)
})
