import { parseArrival, type TestPeopleSpec } from '../../../shared/media/test-people.ts'
import { seededRandom } from '../../../shared/seeded-random.ts'

/** A stay in the room, in whole milliseconds. */
export interface Visit {
  /** Time from the end of the last visit, or from the start of the group, to the arrival. */
  afterMs: number
  /** Length of the stay; undefined: until the end. */
  stayMs: number | undefined
}

/**
 * Returns the visits of a person, the same for the same seed. Without comings and goings there is one visit.
 * @param number number of the person in its group, from 1
 */
export function* visitsOf(
  { arrive, people, seed }: Pick<TestPeopleSpec, 'arrive' | 'people' | 'seed'>,
  number: number,
): Generator<Visit, void> {
  const { kind, seconds } = parseArrival(arrive) ?? { kind: 'at-once', seconds: 0 }
  const random = seededRandom(seed * 1_000 + number)
  const milliseconds = seconds * 1_000
  switch (kind) {
    case 'at-once':
      yield { afterMs: 0, stayMs: undefined }
      return
    case 'evenly':
      yield { afterMs: Math.round((milliseconds * (number - 1)) / people), stayMs: undefined }
      return
    case 'random':
      yield { afterMs: Math.floor(random() * milliseconds), stayMs: undefined }
      return
    case 'come-and-go':
      // The first pause may be short, so that the room is not empty in the beginning.
      for (let afterMs = random() * milliseconds; ; afterMs = (0.25 + random() / 2) * milliseconds)
        yield { afterMs: Math.round(afterMs), stayMs: Math.round((0.5 + random()) * milliseconds) }
  }
}
