import { beforeEach, expect, test, vi } from 'vitest'
import { ReconnectLadder, Reconnector } from '../../../server/devices/reconnect.ts'
import { DeviceJoinError } from '../../../server/nodes/port/media-node-port.ts'
import { joinFailureOf } from '../../../server/devices/device-joining.ts'

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }))

/** Makes a reconnector whose attempts end as the test decides. */
function lab() {
  const attempts: { signal: AbortSignal; join: () => void; fail: (error: unknown) => void }[] = []
  const states: string[] = []
  const reconnector: Reconnector = new Reconnector({
    attempt: (signal) =>
      new Promise((resolve, reject) => {
        attempts.push({ signal, join: resolve, fail: reject })
      }),
    failureOf: joinFailureOf,
    ladder: () => ({ first: 1_000, maxMs: 30_000, steady: 30_000 }),
    random: () => 0,
    clock: Date.now,
    changed: () => void states.push(reconnector.state),
  })
  const last = () => attempts.at(-1) ?? expect.unreachable()
  const settle = () => vi.advanceTimersByTimeAsync(0)
  return { reconnector, attempts, states, last, settle }
}

const refused = () => new DeviceJoinError('refused', 'connection refused')

test('a device that cannot join is retried after 1 s, doubling to 30 s', async () => {
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

test('a device that drops after a longer stay is retried after the first delay, however often it failed before', async () => {
  const { reconnector, last, settle } = lab()
  reconnector.join()
  last().fail(refused())
  await vi.advanceTimersByTimeAsync(1_000)
  last().join()
  await settle()
  expect(reconnector).toMatchObject({ state: 'joined', retries: 0, lastError: undefined, nextAttemptAt: 0 })
  await vi.advanceTimersByTimeAsync(30_000)
  reconnector.lost({ kind: 'stalled', message: 'x' })
  expect(reconnector).toMatchObject({ state: 'waiting', retries: 0, nextAttemptAt: Date.now() + 1_000 })
})

test('a device that drops soon after each join waits longer and longer, until it stays', async () => {
  const { reconnector, last, settle } = lab()
  reconnector.join()
  const waits: number[] = []
  const joinFor = async (milliseconds: number): Promise<void> => {
    last().join()
    await settle()
    await vi.advanceTimersByTimeAsync(milliseconds)
    reconnector.lost({ kind: 'closed', message: 'x' })
    const due = reconnector.nextAttemptAt - Date.now()
    waits.push(due)
    await vi.advanceTimersByTimeAsync(due)
  }
  for (let round = 0; round < 7; round++) await joinFor(2_000)
  await joinFor(30_000)
  await joinFor(2_000)
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 1_000, 2_000])
})

test('a refused login is tried three times, then waits for the operator, who gets one more attempt, or for another login', async () => {
  const { reconnector, attempts, last, settle } = lab()
  const refuse = async (): Promise<void> => {
    last().fail(new DeviceJoinError('auth', 'wrong login'))
    await settle()
  }
  reconnector.join()
  await refuse()
  await vi.advanceTimersByTimeAsync(1_000)
  // A timeout in between does not count as an accepted login.
  last().fail(new DeviceJoinError('timeout', 'no answer'))
  await vi.advanceTimersByTimeAsync(2_000)
  await refuse()
  await vi.advanceTimersByTimeAsync(4_000)
  await refuse()
  expect(attempts).toHaveLength(4)
  const held = { state: 'waiting', nextAttemptAt: 0, lastError: { kind: 'auth', hold: true } }
  expect(reconnector).toMatchObject(held)
  reconnector.join()
  await vi.advanceTimersByTimeAsync(600_000)
  expect(attempts).toHaveLength(4)
  reconnector.join('operator')
  await refuse()
  await vi.advanceTimersByTimeAsync(600_000)
  expect(attempts).toHaveLength(5)
  expect(reconnector).toMatchObject(held)
  reconnector.join('changed')
  for (const wait of [1_000, 2_000]) {
    await refuse()
    expect(reconnector.nextAttemptAt).toBe(Date.now() + wait)
    await vi.advanceTimersByTimeAsync(wait)
  }
  last().join()
  await settle()
  expect(reconnector).toMatchObject({ state: 'joined', lastError: undefined })
})

test('devices that failed together return spread out, and never later than the maximum delay', () => {
  const settings = () => ({ first: 1_000, maxMs: 30_000, steady: 30_000 })
  const waits = Array.from({ length: 200 }, (_, number) => {
    const ladder = new ReconnectLadder(settings, () => number / 200)
    return Array.from({ length: 7 }, () => ladder.failed())
  })
  for (const [step, due] of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000].entries()) {
    const sorted = waits.map((steps) => steps[step] ?? Number.NaN).toSorted((a, b) => a - b)
    expect(sorted.at(-1)).toBeLessThanOrEqual(Math.min(30_000, due * 1.1))
    expect(sorted[0]).toBeGreaterThanOrEqual(due === 30_000 ? 27_000 : due)
    expect(new Set(sorted).size).toBeGreaterThan(90)
  }
})

test('delays of many devices end together, so that two processes wake up once for all of them', async () => {
  const ends = new Set<number>()
  for (let number = 0; number < 40; number++) {
    const { reconnector, last, settle } = lab()
    reconnector.join()
    for (const wait of [1_000, 2_000]) {
      last().fail(refused())
      await settle()
      const due = reconnector.nextAttemptAt - Date.now()
      expect(Math.abs(due - wait)).toBeLessThanOrEqual(wait / 8)
      ends.add(reconnector.nextAttemptAt)
      await vi.advanceTimersByTimeAsync(due)
    }
    reconnector.end()
    await vi.advanceTimersByTimeAsync(7)
  }
  expect([...ends].every((end) => (end - 1_000_000) % 250 === 0)).toBe(true)
})

test('a late answer of an earlier attempt changes nothing', async () => {
  const { reconnector, attempts, settle } = lab()
  reconnector.join()
  reconnector.pause()
  attempts[0]?.join()
  await settle()
  expect(reconnector.state).toBe('paused')
  reconnector.join()
  reconnector.join('changed')
  attempts[1]?.fail(refused())
  await settle()
  expect(reconnector).toMatchObject({ state: 'joining', lastError: undefined })
  attempts[2]?.join()
  await settle()
  expect(reconnector.state).toBe('joined')
})

test('any change of state ends the current attempt', () => {
  const { reconnector, attempts } = lab()
  const steps = [
    () => reconnector.pause(),
    () => reconnector.suspend(),
    () => reconnector.hold({ kind: 'roomLocked', message: 'x' }),
    () => reconnector.join('changed'),
    () => reconnector.end(),
  ]
  for (const step of steps) {
    reconnector.join()
    const attempt = attempts.at(-1)
    step()
    expect(attempt?.signal.aborted).toBe(true)
  }
})

test('a device has one attempt at a time, and none while joined', async () => {
  const { reconnector, attempts, last, settle } = lab()
  reconnector.join()
  reconnector.join()
  expect(attempts).toHaveLength(1)
  last().join()
  await settle()
  reconnector.join()
  expect(attempts).toHaveLength(1)
})

test('a held, paused or deleted device makes no attempts', async () => {
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

test('every change of state is reported with the new state', async () => {
  const { reconnector, states, last, settle } = lab()
  reconnector.join()
  last().join()
  await settle()
  reconnector.lost({ kind: 'closed', message: 'x' })
  reconnector.pause()
  expect(states).toEqual(['joining', 'joined', 'waiting', 'paused'])
})

test('its timers do not keep the process alive', async () => {
  const { reconnector, last } = lab()
  reconnector.join()
  last().fail(refused())
  await vi.advanceTimersByTimeAsync(0)
  expect(vi.getTimerCount()).toBe(1)
  reconnector.end()
  expect(vi.getTimerCount()).toBe(0)
})
