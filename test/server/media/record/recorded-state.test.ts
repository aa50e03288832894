import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RecordedState, type StreamObservation } from '../../../../server/media/record/stream-recorder.ts'

/** Gaps of a stream: one for each reason, without holes between them, and none while media is written. */

const fine: StreamObservation = { trouble: undefined, hasTrack: true, silentMs: 0, lacksKey: false }
const observation = fc.record({
  trouble: fc.constantFrom('diskFull' as const, 'failed' as const, undefined),
  hasTrack: fc.boolean(),
  silentMs: fc.constantFrom(0, 2_000, 2_001, Infinity),
  lacksKey: fc.boolean(),
})
const step = fc.record({ ms: fc.integer({ min: 1, max: 3_000 }), isWriting: fc.boolean(), observation })

test.each([
  [{ trouble: 'diskFull', hasTrack: false }, 'diskFull'],
  [{ trouble: 'failed', lacksKey: true }, 'failed'],
  [{ hasTrack: false, lacksKey: true }, 'codec'],
  [{ lacksKey: true }, 'noKeyFrame'],
  [{ lacksKey: true, silentMs: 2_001 }, 'silent'],
  [{}, 'silent'],
] as const)('%o: %s', (observed, reason) => {
  const state = new RecordedState(1_000)
  const observe = (): StreamObservation => ({ ...fine, ...observed })
  expect(state.missed(2_999, undefined, observe)).toBeUndefined()
  expect(state.missed(3_000, undefined, observe)).toEqual({ from: 1_000, reason })
  expect(state.missed(9_000, undefined, observe)).toBeUndefined()
})

test('A gap begins at the end of the media, and another reason begins when it is detected', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let [at, since, isWriting] = [0, 0, false]
      let reported: string | undefined
      const state = new RecordedState(0)
      for (const each of steps) {
        at += each.ms
        if (each.isWriting) {
          state.began()
          isWriting = true
          continue
        }
        if (isWriting) [isWriting, since, reported] = [false, at - 1, undefined]
        const gap = state.missed(at, at - 1, () => each.observation)
        if (at - since < 2_000) expect(gap).toBeUndefined()
        else if (reported === undefined) expect(gap?.from).toBe(since)
        else if (gap !== undefined) expect(gap.from).toBe(at)
        if (gap !== undefined) expect(gap.reason).not.toBe(reported)
        reported = gap?.reason ?? reported
      }
    }),
  )
})
