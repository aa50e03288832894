import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RoomNames } from '../../../../server/nodes/janus/rooms/room-names.ts'

const secrets = { room_key: 'the key of the node'.padEnd(43, '.') }
const names = new RoomNames(secrets, () => true)

test('A guarded room is called by a name of its own, which leads back to it; every number that a client may choose has one', () => {
  expect(names.of('123456789')).toMatch(/^123456789-[\w-]{22}$/)
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 128, unit: 'grapheme' }), (roomId) => {
      const name = names.of(roomId)
      expect(names.roomOf(name)).toBe(roomId)
      // In a token it stands between these.
      expect(name).not.toMatch(/[,:]/)
    }),
  )
})

test('The name of one room tells nothing of another, and another node calls it otherwise', () => {
  const other = new RoomNames({ room_key: 'another key'.padEnd(43, '.') }, () => true)
  expect(new Set(['1', '2', '1-2'].map((roomId) => names.of(roomId).slice(-22))).size).toBe(3)
  expect(other.of('1')).not.toBe(names.of('1'))
  expect(other.roomOf(names.of('1'))).toBe(names.of('1'))
})

test('Where rooms are open to everybody they are called by their number, and one that was made before is known', () => {
  let guarded = false
  const changing = new RoomNames(secrets, () => guarded)
  expect(changing.of('123456789')).toBe('123456789')
  expect(changing.roomOf('123456789')).toBe('123456789')
  expect(changing.roomOf('%')).toBe('%')
  const before = names.of('123456789')
  expect(changing.roomOf(before)).toBe('123456789')
  guarded = true
  expect(changing.roomOf('123456789')).toBe('123456789')
})
