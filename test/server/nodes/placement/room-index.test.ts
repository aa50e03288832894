import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RoomIndex, type RoomNodes } from '../../../../server/nodes/pool/state/room-nodes.ts'

const name = fc.constantFrom('a', 'b', 'c', 'd')
const record: fc.Arbitrary<RoomNodes> = fc.oneof(
  fc.constant({ node: '' }),
  name.map((node) => ({ node })),
  fc
    .uniqueArray(name, { minLength: 1 })
    .map(([node = '', ...branches]) => (branches.length === 0 ? { node } : { node, branches })),
)
const change = fc.record({ roomId: fc.constantFrom('r1', 'r2', 'r3'), room: fc.option(record, { nil: undefined }) })

test('whichever nodes rooms move to, each node counts exactly its own rooms', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
      const index = new RoomIndex(new Map())
      const stored = new Map<string, readonly string[]>()
      for (const { roomId, room } of changes) {
        const nodes = room === undefined || room.node === '' ? [] : [room.node, ...(room.branches ?? [])]
        expect(index.set(roomId, room)).toEqual(stored.get(roomId) ?? [])
        stored.set(roomId, nodes)
      }
      for (const [roomId, nodes] of stored) {
        expect(index.nodesOf(roomId)).toEqual(nodes)
        expect(index.nodeOf(roomId)).toBe(nodes[0] ?? '')
        for (const node of ['a', 'b', 'c', 'd']) expect(index.isSecondary(roomId, node)).toBe(nodes.indexOf(node) > 0)
      }
      for (const node of ['a', 'b', 'c', 'd']) {
        const rooms = [...stored].flatMap(([roomId, nodes]) => (nodes.includes(node) ? [roomId] : []))
        expect(index.roomsOf(node).sort()).toEqual(rooms.sort())
        expect(index.count(node)).toBe(rooms.length)
      }
    }),
  )
})
