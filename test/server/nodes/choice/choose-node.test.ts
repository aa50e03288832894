import { expect, test } from 'vitest'
import { type ChoiceOptions, chooseNode } from '../../../../server/nodes/pool/choice/choose-node.ts'
import type { Candidate } from '../../../../server/nodes/pool/state/live-node.ts'

function node(name: string, fields: Partial<Candidate> = {}): Candidate {
  const nothing = { idcCode: '', weight: 1, maxRooms: 0, maxUsers: 0, rooms: 0, users: 0, expected: 0 }
  return { name, reliable: true, ...nothing, ...fields }
}

function chosen(candidates: Candidate[], options: ChoiceOptions = {}): string {
  const choice = chooseNode(candidates, options)
  return choice.ok ? choice.node.name : choice.reason
}

test('the node with the fewest users is chosen, however many rooms it has', () => {
  expect(chosen([node('a', { users: 5 }), node('b', { users: 3, rooms: 900 }), node('c', { users: 4 })])).toBe('b')
})

test('with equal users, the one with the fewest rooms is chosen; with equal rooms, the first by name', () => {
  expect(chosen([node('a', { rooms: 2 }), node('b', { rooms: 1 })])).toBe('b')
  expect(chosen([node('c'), node('a'), node('b')])).toBe('a')
})

test('a node of weight 2 gets twice the users and twice the rooms', () => {
  expect(chosen([node('a', { users: 5 }), node('b', { users: 8, weight: 2 })])).toBe('b')
  expect(chosen([node('a', { users: 5 }), node('b', { users: 11, weight: 2 })])).toBe('a')
  expect(chosen([node('a', { rooms: 5 }), node('b', { rooms: 8, weight: 2 })])).toBe('b')
})

test('the requested idc_code takes precedence over load', () => {
  const nodes = [node('a'), node('b', { idcCode: 'bj', users: 9 }), node('c', { idcCode: 'bj', users: 8 })]
  expect(chosen(nodes, { idcCode: 'bj' })).toBe('c')
})

test('if no node of the requested idc_code qualifies, any other is chosen', () => {
  expect(chosen([node('a'), node('b', { idcCode: 'bj', users: 2, maxUsers: 2 })], { idcCode: 'bj' })).toBe('a')
  expect(chosen([node('a')], { idcCode: 'sh' })).toBe('a')
})

test('a node at its limit of rooms or users is skipped', () => {
  expect(chosen([node('a', { rooms: 2, maxRooms: 2 }), node('b', { rooms: 3, users: 9 })])).toBe('b')
  expect(chosen([node('a', { users: 2, maxUsers: 2 }), node('b', { users: 9 })])).toBe('b')
})

test('a site without nodes is distinguished from one with all nodes at their limit', () => {
  expect(chosen([])).toBe('noNode')
  expect(chosen([node('a')], { exclude: new Set(['a']) })).toBe('noNode')
  expect(chosen([node('a', { rooms: 1, maxRooms: 1 }), node('b', { users: 1, maxUsers: 1 })])).toBe('licenceExceeded')
})

test('expected users count as load like present ones, but not towards the limit', () => {
  expect(chosen([node('a', { users: 1, expected: 3 }), node('b', { users: 3 })])).toBe('b')
  const filling = node('a', { users: 1, expected: 1, maxUsers: 2 })
  expect(chosen([filling, node('b', { users: 90 })])).toBe('b')
  expect(chosen([filling])).toBe('a')
})

test('an unsteady node comes last, even if it is the requested one', () => {
  const crashing = node('a', { idcCode: 'bj', reliable: false })
  expect(chosen([crashing, node('b', { users: 90 })], { idcCode: 'bj' })).toBe('b')
  expect(chosen([crashing])).toBe('a')
})
