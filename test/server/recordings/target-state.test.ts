import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hindranceOf, mayOrder, targetState } from '../../../server/recordings/target-state.ts'

/** What the controller knows of a target decides what it orders and shows. */

const facts = fc.record({
  isWriting: fc.boolean(),
  canRecord: fc.boolean(),
  blocked: fc.constantFrom('off' as const, 'storageLow' as const, undefined),
  isThere: fc.boolean(),
  isLeader: fc.boolean(),
})

test('A target that waits for its first picture counts as requested, and shows no obstacle', () => {
  fc.assert(
    fc.property(facts, (each) => {
      const state = targetState(each)
      if (each.isWriting) expect(state).toBe('recording')
      if (state === 'pending') {
        expect(mayOrder(each)).toBe(true)
        expect(each).toMatchObject({ isWriting: false, canRecord: true, isThere: true })
      }
      const before = each.isWriting ? null : !each.canRecord ? 'node' : (each.blocked ?? (each.isThere ? null : 'away'))
      expect(hindranceOf(state)).toBe(before)
      expect(mayOrder(each)).toBe(each.isLeader && each.blocked === undefined)
    }),
  )
})

test('Only the lease distinguishes a controller that records nothing from one that records', () => {
  const ready = { isWriting: false, canRecord: true, blocked: undefined, isThere: true }
  expect(targetState({ ...ready, isLeader: true })).toBe('pending')
  expect(targetState({ ...ready, isLeader: false })).toBe('noLease')
})
