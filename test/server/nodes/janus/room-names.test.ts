import fc from 'fast-check'
import { expect, test } from 'vitest'
import { JanusRoomNames } from '../../../../server/nodes/janus/rooms/room-names.ts'

const secrets = { room_key: 'the key of the node'.padEnd(43, '.') }
const names = new JanusRoomNames(secrets, { current: { guarded: true } })

test('A guarded room has a name of its own, which maps back to it; every number that a client may choose has a name', () => {
  expect(names.of('123456789')).toMatch(/^123456789-[\w-]{22}$/)
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 128, unit: 'grapheme' }), (roomId) => {
      const name = names.of(roomId)
      expect(names.roomOf(name)).toBe(roomId)
      // Separators in a token.
      expect(name).not.toMatch(/[,:]/)
    }),
  )
})

test('The name of one room reveals nothing about another, and another node uses another name', () => {
  const other = new JanusRoomNames({ room_key: 'another key'.padEnd(43, '.') }, { current: { guarded: true } })
  expect(new Set(['1', '2', '1-2'].map((roomId) => names.of(roomId).slice(-22))).size).toBe(3)
  expect(other.of('1')).not.toBe(names.of('1'))
  expect(other.roomOf(names.of('1'))).toBe(names.of('1'))
})

test('Open rooms are named by their number, and existing ones are recognised', () => {
  const current = { guarded: false }
  const changing = new JanusRoomNames(secrets, { current })
  expect(changing.of('123456789')).toBe('123456789')
  expect(changing.roomOf('123456789')).toBe('123456789')
  expect(changing.roomOf('%')).toBe('%')
  const before = names.of('123456789')
  expect(changing.roomOf(before)).toBe('123456789')
  current.guarded = true
  expect(changing.roomOf('123456789')).toBe('123456789')
})
