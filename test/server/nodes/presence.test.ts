import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Presence } from '../../../server/nodes/pool/state/presence.ts'

const nodes = ['a', 'b', 'c'] as const
const rooms = ['r1', 'r2'] as const
const users = ['u1', 'u2', 'u3', 'u4'] as const
const step = fc.record({
  roomId: fc.constantFrom(...rooms),
  userId: fc.constantFrom(...users),
  node: fc.constantFrom(...nodes),
  device: fc.boolean(),
  joinedAt: fc.nat(50),
  do: fc.constantFrom('join' as const, 'join' as const, 'leave' as const, 'clear' as const, 'change' as const),
})

test('every count matches the users present, however they join and leave the nodes of a room', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const presence = new Presence()
      const there = new Map<
        string,
        { roomId: string; userId: string; node: string; device: boolean; joinedAt: number }
      >()
      for (const each of steps) {
        const { roomId, userId, node, device, joinedAt } = each
        const key = `${roomId} ${userId}`
        const user = { userId, userName: userId, device, role: 'member' as const, joinedAt }
        if (each.do === 'clear') {
          const gone = [...there].filter(([, one]) => one.roomId === roomId && one.node === node)
          const told = presence.clear(roomId, node).map((departure) => departure.user.userId)
          expect(told.sort()).toEqual(gone.map(([, one]) => one.userId).sort())
          for (const [name] of gone) there.delete(name)
        } else if (each.do === 'change') {
          const known = there.get(key)
          const same = known?.node === node && known.joinedAt === joinedAt && known.device === device
          expect(presence.change(node, roomId, { ...user, role: 'host' })).toBe(same)
        } else {
          expect(presence.leave(roomId, userId)?.userId).toBe(there.get(key)?.userId)
          there.delete(key)
          if (each.do === 'leave') continue
          presence.join(node, roomId, user)
          there.set(key, { roomId, userId, node, device, joinedAt })
        }
      }
      const all = [...there.values()]
      for (const roomId of rooms) {
        const here = all.filter((one) => one.roomId === roomId)
        expect(presence.count(roomId)).toBe(here.length)
        expect(presence.occupied(roomId)).toBe(here.length > 0)
        expect(presence.peopleIn(roomId)).toBe(here.filter(({ device }) => !device).length)
        const listed = presence.usersOf(roomId)
        expect(listed.map(({ userId }) => userId).sort()).toEqual(here.map(({ userId }) => userId).sort())
        if (new Set(here.map(({ node }) => node)).size > 1) {
          expect(listed.map(({ joinedAt }) => joinedAt)).toEqual(
            here.map(({ joinedAt }) => joinedAt).sort((one, other) => one - other),
          )
        }
        for (const node of nodes) {
          const at = here.filter((one) => one.node === node)
          expect(presence.countAt(roomId, node)).toBe(at.length)
          expect(presence.peopleAt(roomId, node)).toBe(at.filter(({ device }) => !device).length)
          expect(
            presence
              .usersAt(roomId, node)
              .map(({ userId }) => userId)
              .sort(),
          ).toEqual(at.map(({ userId }) => userId).sort())
        }
        for (const { userId, node } of here) expect(presence.sessionOf(roomId, userId)?.node).toBe(node)
      }
      for (const node of nodes) {
        const on = all.filter((one) => one.node === node)
        expect(presence.usersOn(node)).toBe(on.length)
        expect(presence.devicesOn(node)).toBe(on.filter(({ device }) => device).length)
        expect(presence.roomsOn(node).sort()).toEqual([...new Set(on.map(({ roomId }) => roomId))].sort())
      }
      expect(presence.totals()).toEqual({
        people: all.filter(({ device }) => !device).length,
        devices: all.filter(({ device }) => device).length,
      })
      expect(presence.occupiedRooms).toBe(new Set(all.map(({ roomId }) => roomId)).size)
    }),
  )
})
