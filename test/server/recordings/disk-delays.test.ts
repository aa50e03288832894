import { expect, test } from 'vitest'
import { DiskDelays } from '../../../server/recordings/recording-health.ts'
import type { RecordingEvent } from '../../../server/recordings/recording-events.ts'

function scene(): { delays: DiskDelays; told: () => [string, unknown][] } {
  const events: RecordingEvent[] = []
  const delays = new DiskDelays((event) => void events.push(event))
  return { delays, told: () => events.map(({ kind, params }) => [kind, params]) }
}

test('a disk that is late by less than a second appears in the figures, and no event is logged', () => {
  const { delays, told } = scene()
  delays.note('main', 800)
  expect(delays.ms).toBe(800)
  expect(delays.reported).toBeUndefined()
  delays.note('main', 0)
  expect(delays.ms).toBe(0)
  expect(told()).toEqual([])
})

test('a disk that is late by more is reported once, and once more when it recovers', () => {
  const { delays, told } = scene()
  for (const ms of [900, 1_250, 4_210, 300]) delays.note('main', ms)
  expect(delays.ms).toBe(300)
  expect(delays.reported?.maxMs).toBe(4_210)
  expect(told()).toEqual([['recording.diskLate', { node: 'main', seconds: 1.3 }]])
  delays.note('main', 0)
  expect(delays.reported).toBeUndefined()
  expect(told().slice(1)).toEqual([['recording.diskBack', { node: 'main', seconds: 4.3 }]])
})

test('of several nodes the slowest disk counts', () => {
  const { delays } = scene()
  delays.note('a', 2_000)
  delays.note('b', 5_000)
  expect(delays.ms).toBe(5_000)
  delays.note('b', 0)
  expect(delays.ms).toBe(2_000)
  expect(delays.reported?.maxMs).toBe(2_000)
})
