import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NodeComparison, RoomsToCheck } from '../../../../server/nodes/pool/placement/node-placement-state.ts'

test('one comparison runs at a time, and only its first success is reported until the node is lost', () => {
  const comparison = new NodeComparison()
  expect([comparison.begin(), comparison.begin(), comparison.isKnown]).toEqual([true, false, false])
  comparison.fail()
  expect([comparison.isKnown, comparison.begin(), comparison.succeed()]).toEqual([false, true, true])
  comparison.fail()
  expect([comparison.isKnown, comparison.begin(), comparison.begin()]).toEqual([true, true, false])
  comparison.fail()
  expect([comparison.isKnown, comparison.begin(), comparison.succeed()]).toEqual([true, true, false])
  comparison.forget()
  expect([comparison.isKnown, comparison.begin()]).toEqual([false, true])
})

test('a marked room is compared once, at the latest after the next poll', () => {
  const marks = fc.array(fc.tuple(fc.constantFrom('markDue', 'markForPoll', 'polled'), fc.constantFrom('a', 'b', 'c')))
  fc.assert(
    fc.property(marks, (steps) => {
      const rooms = new RoomsToCheck()
      for (const [step, roomId] of steps) {
        if (step === 'polled') rooms.polled()
        else rooms[step](roomId)
      }
      rooms.polled()
      const taken: string[] = []
      for (let next = rooms.take(); next !== undefined; next = rooms.take()) taken.push(next)
      const marked = new Set(steps.flatMap(([step, roomId]) => (step === 'polled' ? [] : [roomId])))
      expect(taken.toSorted()).toEqual([...marked].toSorted())
      expect(rooms.hasDue).toBe(false)
    }),
  )
})
