import { beforeEach, afterEach, expect, test, vi } from 'vitest'
import { Reconnector } from '../../../server/devices/reconnect.ts'
import { DeviceJoinError } from '../../../server/nodes/media-node.ts'
import { joinFailureOf } from '../../../server/devices/device-joining.ts'

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }))
afterEach(() => void vi.useRealTimers())

/** A reconnector whose attempts the test ends as it likes. */
function lab() {
  const attempts: { signal: AbortSignal; join: () => void; fail: (error: unknown) => void }[] = []
  const states: string[] = []
  const reconnector: Reconnector = new Reconnector({
    attempt: (signal) =>
      new Promise((resolve, reject) => {
        attempts.push({ signal, join: resolve, fail: reject })
      }),
    failureOf: joinFailureOf,
    ladder: () => ({ first: 1_000, longest: 30_000 }),
    clock: Date.now,
    changed: () => void states.push(reconnector.state),
  })
  const last = () => attempts.at(-1) ?? expect.unreachable()
  const settle = () => vi.advanceTimersByTimeAsync(0)
  return { reconnector, attempts, states, last, settle }
}

const refused = () => new DeviceJoinError('refused', 'connection refused')

test('a device that cannot join is tried after 1 s, doubling to 30 s', async () => {
  const { reconnector, attempts, last } = lab()
  reconnector.join()
  const waits: number[] = []
  for (let round = 0; round < 8; round++) {
    last().fail(refused())
    await vi.advanceTimersByTimeAsync(0)
    expect(reconnector.state).toBe('waiting')
    const due = reconnector.nextAttemptAt - Date.now()
    waits.push(due)
    await vi.advanceTimersByTimeAsync(due - 1)
    expect(attempts).toHaveLength(round + 1)
    await vi.advanceTimersByTimeAsync(1)
    expect(attempts).toHaveLength(round + 2)
  }
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000])
  expect(reconnector.retries).toBe(8)
  expect(reconnector.lastError).toMatchObject({ kind: 'refused', at: expect.any(Number) })
})

test('one that drops is tried after the first wait, however often it failed before', async () => {
  const { reconnector, last, settle } = lab()
  reconnector.join()
  last().fail(refused())
  await vi.advanceTimersByTimeAsync(1_000)
  last().join()
  await settle()
  expect(reconnector).toMatchObject({ state: 'joined', retries: 0, lastError: undefined, nextAttemptAt: 0 })
  reconnector.lost({ kind: 'stalled', message: 'x' })
  expect(reconnector).toMatchObject({ state: 'waiting', retries: 0, nextAttemptAt: Date.now() + 1_000 })
})

test('a late answer of an old attempt changes nothing', async () => {
  const { reconnector, attempts, settle } = lab()
  reconnector.join()
  reconnector.pause()
  attempts[0]?.join()
  await settle()
  expect(reconnector.state).toBe('paused')
  reconnector.join()
  reconnector.join(true)
  attempts[1]?.fail(refused())
  await settle()
  expect(reconnector).toMatchObject({ state: 'joining', lastError: undefined })
  attempts[2]?.join()
  await settle()
  expect(reconnector.state).toBe('joined')
})

test('whatever comes in between ends the attempt under way', () => {
  const { reconnector, attempts } = lab()
  const steps = [
    () => reconnector.pause(),
    () => reconnector.suspend(),
    () => reconnector.hold({ kind: 'roomLocked', message: 'x' }),
    () => reconnector.join(true),
    () => reconnector.end(),
  ]
  for (const step of steps) {
    reconnector.join()
    const attempt = attempts.at(-1)
    step()
    expect(attempt?.signal.aborted).toBe(true)
  }
})

test('one attempt at a time, and none when it is joined', async () => {
  const { reconnector, attempts, last, settle } = lab()
  reconnector.join()
  reconnector.join()
  expect(attempts).toHaveLength(1)
  last().join()
  await settle()
  reconnector.join()
  expect(attempts).toHaveLength(1)
})

test('one that is held, paused or gone tries nothing by itself', async () => {
  const { reconnector, attempts, last } = lab()
  reconnector.join()
  last().fail(refused())
  await vi.advanceTimersByTimeAsync(0)
  reconnector.hold({ kind: 'roomLocked', message: 'x' })
  await vi.advanceTimersByTimeAsync(60_000)
  reconnector.pause()
  await vi.advanceTimersByTimeAsync(60_000)
  reconnector.end()
  reconnector.join()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(attempts).toHaveLength(1)
})

test('every change of state is told, with the state it has then', async () => {
  const { reconnector, states, last, settle } = lab()
  reconnector.join()
  last().join()
  await settle()
  reconnector.lost({ kind: 'closed', message: 'x' })
  reconnector.pause()
  expect(states).toEqual(['joining', 'joined', 'waiting', 'paused'])
})

test('its timers do not hold the process', async () => {
  const { reconnector, last } = lab()
  reconnector.join()
  last().fail(refused())
  await vi.advanceTimersByTimeAsync(0)
  expect(vi.getTimerCount()).toBe(1)
  reconnector.end()
  expect(vi.getTimerCount()).toBe(0)
})
