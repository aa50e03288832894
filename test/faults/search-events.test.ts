import { expect, onTestFinished, test } from 'vitest'
import type { EventFilter } from '../../shared/domain/events.ts'
import { openLog } from '../support/sites/event-log-site.ts'
import { temporaryFolder } from '../support/sites/store-site.ts'

const count = 100_000

test('A search for a rare word reads a log of 100,000 events in a few bounded requests, and finds all of them', async () => {
  const log = await openLog(await temporaryFolder())
  onTestFinished(() => log.close())
  for (let n = 1; n <= count; n++) {
    const subject = { type: 'room', id: `r-${n}`, name: `Room ${n}` } as const
    log.append({ kind: n % 10_000 === 0 ? 'room.deleted' : 'room.created', subject })
    if (n % 500 === 0) await log.flush()
  }
  const words: NonNullable<EventFilter['words']> = [{ text: 'gelöscht', sentences: ['kinds.room.deleted'] }]
  const found: string[] = []
  const progress: number[] = []
  let before: number | undefined
  do {
    const answer = await log.query({ words, limit: 200, before })
    expect(answer.newest).toBe(answer.kept)
    found.push(...answer.items.map(({ subject }) => subject.name))
    progress.push(answer.next === 0 ? answer.kept : answer.newest - answer.next + 1)
    before = answer.next
  } while (before !== 0)
  expect(found).toEqual(Array.from({ length: 10 }, (_, at) => `Room ${(10 - at) * 10_000}`))
  expect(progress).toEqual(progress.toSorted((one, other) => one - other))
  expect(progress.at(-1)).toBe(count + 1)
  // Each request reads at most 16 MB of the log.
  expect(progress.length).toBeGreaterThan(1)
  expect(progress.length).toBeLessThan(6)
})
