import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type SliceQueue, Slices } from '../../../../server/media/base/event-loop.ts'

/** Makes work on a clock that only this work advances. */
function worker(): {
  slices: Slices
  lane: SliceQueue
  done: number[]
  work: (name: number, ms: number, lane?: SliceQueue) => void
} {
  let now = 0
  const slices = new Slices(() => now)
  const own = slices.queue()
  const done: number[] = []
  const work = (name: number, ms: number, lane = own): void => {
    lane.run(() => {
      now += ms
      done.push(name)
    })
  }
  return { slices, lane: own, done, work }
}

test('a burst is processed in chunks, in order; later items wait behind it, and other sources get their turn', async () => {
  const { lane, done, work } = worker()
  for (let name = 1; name <= 7; name++) work(name, 2)
  expect(done).toEqual([1, 2])
  await turn()
  expect(done).toEqual([1, 2, 3, 4])
  work(8, 2)
  await turn()
  expect(done).toEqual([1, 2, 3, 4, 5, 6])
  await turn()
  expect(done).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  expect(lane.idle).toBe(true)
})

test('a source with little work does not wait behind the burst of another one', async () => {
  const { slices, done, work } = worker()
  for (let name = 1; name <= 100; name++) work(name, 2)
  const other = slices.queue()
  for (let name = 201; name <= 203; name++) work(name, 2, other)
  await turn()
  expect(done).toEqual([1, 2, 3, 201])
  await turn()
  await turn()
  expect(done).toEqual([1, 2, 3, 201, 4, 202, 5, 203])
  expect(other.idle).toBe(true)
})

test('short work is done at once, however much arrives over time', async () => {
  const { lane, done, work } = worker()
  for (let name = 1; name <= 20; name++) {
    work(name, 3)
    expect([done.length, lane.idle]).toEqual([name, true])
    await turn()
  }
})

test('work beyond the limit is dropped: the queue does not grow without bound', async () => {
  const { lane, done, work } = worker()
  for (let name = 1; name <= 5_000; name++) work(name, 4)
  expect(lane.run(() => {})).toBe(false)
  while (!lane.idle) await turn()
  expect(done).toHaveLength(1 + 4_096)
  expect(done.at(-1)).toBe(4_097)
})

test('under overload all sources wait equally long, and together no longer than one would', async () => {
  const { slices, done, work } = worker()
  const lanes = Array.from({ length: 8 }, () => slices.queue())
  for (let round = 1; round <= 1_000; round++) for (const [name, lane] of lanes.entries()) work(name, 4, lane)
  while (lanes.some(({ idle }) => !idle)) await turn()
  expect(done).toHaveLength(1 + 4_096)
  expect(lanes.map((_, name) => done.filter((one) => one === name).length)).toEqual([
    513,
    ...Array<number>(7).fill(512),
  ])
})
