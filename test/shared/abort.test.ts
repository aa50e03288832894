import { expect, test } from 'vitest'
import { onAbort, unlessAborted } from '../../shared/abort.ts'
import { pause, sleep } from '../../shared/sleep.ts'

const never = new Promise<never>(() => {})
const gone = new Error('gone')

test('an already aborted signal counts as one that aborts', async () => {
  const signal = AbortSignal.abort(gone)
  let calls = 0
  onAbort(signal, () => (calls += 1))()
  expect(calls).toBe(1)
  await expect(unlessAborted(never, signal)).rejects.toBe(gone)
  await expect(sleep(60_000, { signal })).rejects.toBe(gone)
  await pause(60_000, { signal })
})

test('a signal that aborts later ends every wait', async () => {
  const abort = new AbortController()
  const { signal } = abort
  const waits = [unlessAborted(never, signal), sleep(60_000, { signal })].map((wait) => expect(wait).rejects.toBe(gone))
  const paused = pause(60_000, { signal })
  abort.abort(gone)
  await Promise.all([...waits, paused])
})

test('an unregistered callback is not called', () => {
  const abort = new AbortController()
  let calls = 0
  onAbort(abort.signal, () => (calls += 1))()
  abort.abort()
  expect(calls).toBe(0)
})

test('a finished wait keeps no reference to its timer or signal', async () => {
  const started: number[] = []
  const cancelled: number[] = []
  const start = (milliseconds: number, run: () => void): (() => void) => {
    started.push(milliseconds)
    queueMicrotask(run)
    return () => cancelled.push(milliseconds)
  }
  const abort = new AbortController()
  await sleep(5, { signal: abort.signal }, start)
  abort.abort(gone)
  expect([started, cancelled]).toEqual([[5], []])
})
