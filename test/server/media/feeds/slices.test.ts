import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Slices } from '../../../../server/media/feeds/slices.ts'

/** Work on a clock that stands still but for it. */
function worker(): { slices: Slices; done: number[]; work: (name: number, ms: number) => void } {
  let now = 0
  const slices = new Slices(() => now)
  const done: number[] = []
  const work = (name: number, ms: number): void => {
    slices.run(() => {
      now += ms
      done.push(name)
    })
  }
  return { slices, done, work }
}

test('a burst is worked off in slices, in order; what comes meanwhile waits behind it, and others get their turn', async () => {
  const { slices, done, work } = worker()
  for (let name = 1; name <= 7; name++) work(name, 2)
  expect(done).toEqual([1, 2])
  await turn()
  expect(done).toEqual([1, 2, 3, 4])
  work(8, 2)
  await turn()
  expect(done).toEqual([1, 2, 3, 4, 5, 6])
  await turn()
  expect(done).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  expect(slices.idle).toBe(true)
})

test('what is done soon is done at once, however much of it comes over the time', async () => {
  const { slices, done, work } = worker()
  for (let name = 1; name <= 20; name++) {
    work(name, 3)
    expect([done.length, slices.idle]).toEqual([name, true])
    await turn()
  }
})

test('more than can be done is left out: what waits does not grow without end', async () => {
  const { slices, done, work } = worker()
  for (let name = 1; name <= 5_000; name++) work(name, 4)
  while (!slices.idle) await turn()
  expect(done).toHaveLength(1 + 4_096)
  expect(done.at(-1)).toBe(4_097)
})
