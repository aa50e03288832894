import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { YieldingScheduler } from '../../../../server/media/record/yielding-scheduler.ts'
import { FrameScheduler } from '../../../../server/media/record/stream-files.ts'

/** Cameras whose key frames come at the same moment end their fragments one after the other, and packets pass between them. */

/** Frames that files were given, in their order. */
function files(...names: string[]) {
  const given: string[] = []
  const failures: unknown[] = []
  const turns = new YieldingScheduler()
  const file = (name: string) => {
    const frames = new FrameScheduler(turns, (error) => failures.push(error))
    const add = (key: boolean, frame: string): void =>
      frames.add(key, () => {
        given.push(`${name}${frame}`)
        return frame === '!' ? Promise.reject(new Error('bad frame')) : Promise.resolve()
      })
    return { add, end: () => frames.end() }
  }
  return { given, failures, all: names.map(file) }
}

test('One file finishes a fragment per event loop turn; the others wait, with the frames behind their key frames', async () => {
  const { given, all } = files('a', 'b', 'c')
  for (const { add } of all) {
    add(true, '1')
    add(false, '2')
  }
  expect(given).toEqual([])
  await setImmediate()
  expect(given).toEqual(['a1', 'a2'])
  // Nothing waits in this file: its frames go at once.
  all[0]?.add(false, '3')
  expect(given).toEqual(['a1', 'a2', 'a3'])
  await setImmediate()
  all[2]?.add(false, '3')
  await setImmediate()
  expect(given).toEqual(['a1', 'a2', 'a3', 'b1', 'b2', 'c1', 'c2', 'c3'])
})

test('Each key frame has a turn of its own, and closing writes the pending frames, in order', async () => {
  const { given, all } = files('a', 'b')
  const [a, b] = all
  for (const frame of ['1', '2']) a?.add(true, frame)
  b?.add(true, '1')
  await setImmediate()
  await setImmediate()
  expect(given).toEqual(['a1', 'b1'])
  a?.add(false, '3')
  b?.add(true, '2')
  b?.add(false, '3')
  await Promise.all([a?.end(), b?.end()])
  expect(given).toEqual(['a1', 'b1', 'a2', 'a3', 'b2', 'b3'])
})

test('A frame that cannot be written is reported, and the next ones continue', async () => {
  const { given, failures, all } = files('a')
  all[0]?.add(true, '!')
  all[0]?.add(false, '2')
  await all[0]?.end()
  expect(given).toEqual(['a!', 'a2'])
  expect(failures).toEqual([new Error('bad frame')])
})
