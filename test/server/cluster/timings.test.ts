import fc from 'fast-check'
import { expect, test } from 'vitest'
import { connectionTimeouts } from '../../../server/edge/limits.ts'
import { checkTimings, readsFor, shippedTimings, type Timings } from '../../../server/store/election/timings.ts'

const timings = shippedTimings(connectionTimeouts.keepAliveMs)

/** Timings of a controller with some replaced. */
const withTimes = ({ election = {}, cluster = {}, ...others }: Changed = {}): Timings => ({
  ...timings,
  ...others,
  election: { ...timings.election, ...election },
  cluster: { ...timings.cluster, ...cluster },
})
interface Changed {
  election?: Partial<Timings['election']>
  cluster?: Partial<Timings['cluster']>
  keepAlive?: number
}

test('The shipped timings of a controller satisfy all their relations', () => {
  expect(() => checkTimings(timings)).not.toThrow()
})

test.each<[string, Changed, RegExp]>([
  ['too few proofs', { election: { prove: 200 } }, /Three proofs must fit/],
  ['proofs that count for a whole lease', { election: { maxReads: 2_900 } }, /prove its lease before it counts/],
  ['longest proofs that are shorter than usual ones', { election: { maxReads: 400 } }, /reads ≤ maxReads/],
  ['a replica of an earlier version that does not wait', { election: { comeBack: 2_500 } }, /longest proof is over/],
  ['a replica that takes over within a lease', { election: { comeBack: 2_900 } }, /must wait for a whole lease/],
  [
    'a leader that answers alone for too long',
    { election: { ask: 2_950, reads: 2_950, lease: 3_060 } },
    /must answer from memory for less/,
  ],
  ['answers of others that count for longer than a proof', { election: { ask: 600 } }, /no longer than for that/],
  [
    'a replica that reports lines it did not check for',
    { election: { poll: 1_100 } },
    /at least as often as it reports/,
  ],
  ['a successor without time', { election: { successor: 900 } }, /ten attempts to lead/],
  ['one attempt to register', { cluster: { register: 1_600 } }, /two attempts to register/],
  ['a handover shorter than one answer', { cluster: { handOver: 4_000 } }, /A hand-over must outlast/],
  ['a leader that is shown as gone', { cluster: { gone: 3_000 } }, /must not be shown as gone/],
  ['absent before gone', { cluster: { absent: 5_000 } }, /must be gone before it is absent/],
  ['idle connections that the leader closes first', { keepAlive: 7_000 }, /must end idle connections well before/],
  ['a stream that ends after one lost ping', { cluster: { eventsSilent: 40_000 } }, /may miss one ping/],
])('A start with wrong times is refused and names the relation: %s', (_, changed, sentence) => {
  expect(() => checkTimings(withTimes(changed))).toThrow(RangeError)
  expect(() => checkTimings(withTimes(changed))).toThrow(sentence)
})

test('Three proofs fit into the lifetime of one, however slow the database is, within its bounds', () => {
  const { election } = timings
  fc.assert(
    fc.property(fc.double({ min: 0, max: 10_000, noNaN: true }), (roundTrip) => {
      const reads = readsFor(election, roundTrip)
      expect(reads).toBeGreaterThanOrEqual(election.reads)
      expect(reads).toBeLessThanOrEqual(election.maxReads)
      if (reads < election.maxReads) expect(3 * (roundTrip + election.prove)).toBeLessThanOrEqual(reads)
      expect(() => checkTimings(withTimes({ election: { reads } }))).not.toThrow()
    }),
  )
})

test('A start names every violated relation', () => {
  const wrong = withTimes({ election: { comeBack: 1_000 }, cluster: { gone: 1_000 } })
  expect(() => checkTimings(wrong)).toThrow(/whole lease.*two attempts to register.*shown as gone/s)
})
