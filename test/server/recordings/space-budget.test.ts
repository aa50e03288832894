import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SpaceBudget, type SpaceClaim } from '../../../server/recordings/disk-space.ts'

/** Files beside the recordings share the space above the reserve. */

const reserve = 100
const margin = 10

type Step = { do: 'claim'; owner: string; bytes: number; share: number } | { do: 'write' | 'release'; at: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('claim' as const),
    owner: fc.constantFrom('account ann', 'account bo', 'client lobby', 'upload'),
    bytes: fc.nat(600),
    share: fc.constantFrom(0.5, 1),
  }),
  fc.record({ do: fc.constantFrom('write', 'release'), at: fc.nat(10) }),
)

test('Whatever is claimed, written and released concurrently, the reserve stays free, and an account has half at most', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(step, { maxLength: 6 }), { maxLength: 12 }), async (rounds) => {
      let free = 1_000
      const budget = new SpaceBudget(() => Promise.resolve({ free, capacity: 2_000, reserve, margin }))
      const open: { claim: SpaceClaim; written: number; owner: string }[] = []
      for (const steps of rounds) {
        await Promise.all(
          steps.map(async (one) => {
            if (one.do === 'claim') {
              const { owner, bytes, share } = one
              const claim = await budget.claim({ owner, bytes, share })
              if (claim !== undefined) open.push({ claim, written: 0, owner })
              return
            }
            const chosen = open[one.at]
            if (chosen === undefined) return
            if (one.do === 'write' && chosen.written === 0) {
              chosen.written = chosen.claim.bytes
              free -= chosen.written
              chosen.claim.settle(chosen.written)
            } else if (one.do === 'release') {
              free += chosen.written
              chosen.claim.release()
              open.splice(one.at, 1)
            }
          }),
        )
        const pending = open.filter(({ written }) => written === 0).reduce((sum, { claim }) => sum + claim.bytes, 0)
        expect(free - pending).toBeGreaterThanOrEqual(reserve + margin)
      }
    }),
  )
})

test('An owner with half of the budget gets no more, and others do', async () => {
  const budget = new SpaceBudget(() => Promise.resolve({ free: 1_110, capacity: 2_000, reserve, margin }))
  const first = await budget.claim({ owner: 'account ann', bytes: 500 })
  expect(await budget.claim({ owner: 'account ann', bytes: 1 })).toBeUndefined()
  expect(await budget.claim({ owner: 'account bo', bytes: 500 })).toBeDefined()
  expect(await budget.claim({ owner: 'account cy', bytes: 1 })).toBeUndefined()
  first?.release()
  expect(await budget.claim({ owner: 'account ann', bytes: 500 })).toBeDefined()
})
