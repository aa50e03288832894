import { expect, test, vi } from 'vitest'
import { AttemptGate } from '../../../server/devices/attempt-gate.ts'
import { quietTime } from '../../support/quiet-time.ts'

const never = new AbortController().signal
const roomy = { width: 2, patienceMs: 60_000, maxAtOnce: 100 }

test('a limited number of attempts run at once, the others wait in order', async () => {
  const gate = new AttemptGate({ ...roomy, width: 2 })
  const order: number[] = []
  let inside = 0
  let most = 0
  await Promise.all(
    Array.from({ length: 7 }, (_, number) =>
      gate.pass(never, 0, async () => {
        order.push(number)
        inside += 1
        most = Math.max(most, inside)
        await new Promise((resolve) => setImmediate(resolve))
        inside -= 1
      }),
    ),
  )
  expect(order).toEqual([0, 1, 2, 3, 4, 5, 6])
  expect(most).toBe(2)
})

test('a device that gives up while waiting never connects and takes no slot', async () => {
  const gate = new AttemptGate({ ...roomy, width: 1 })
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const first = gate.pass(never, 0, () => held)
  const impatient = new AbortController()
  const gone = gate.pass(impatient.signal, 0, () => expect.unreachable())
  const third = gate.pass(never, 0, async () => undefined)
  impatient.abort(new Error('given up'))
  await expect(gone).rejects.toThrow('given up')
  release()
  await Promise.all([first, third])
  await gate.pass(never, 0, async () => undefined)
})

test('a failed attempt frees its slot', async () => {
  const gate = new AttemptGate({ ...roomy, width: 1 })
  await expect(gate.pass(never, 0, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  await gate.pass(never, 0, async () => undefined)
})

test('the device with the fewest failures goes first, even if others waited longer', async () => {
  const gate = new AttemptGate({ ...roomy, width: 1 })
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const order: number[] = []
  const passes = [gate.pass(never, 0, () => held)]
  for (const failures of [9, 3, 1, 0, 40]) {
    passes.push(gate.pass(never, failures, async () => void order.push(failures)))
  }
  release()
  await Promise.all(passes)
  expect(order).toEqual([0, 1, 3, 9, 40])
})

test('silent devices release their slots to the next ones', async () => {
  vi.useFakeTimers()
  try {
    const gate = new AttemptGate({ width: 2, patienceMs: 100, maxAtOnce: 100 })
    const { promise: silence, resolve: end } = Promise.withResolvers<void>()
    const dead = Array.from({ length: 6 }, () => gate.pass(never, 0, () => silence))
    let joined = false
    const live = gate.pass(never, 0, async () => void (joined = true))
    await vi.advanceTimersByTimeAsync(299)
    expect(joined).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    await live
    expect(joined).toBe(true)
    end()
    await Promise.all(dead)
    expect(vi.getTimerCount()).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})

test('the number of attempts is bounded, with or without a slot', async () => {
  const gate = new AttemptGate({ width: 2, patienceMs: 0, maxAtOnce: 3 })
  const ends: (() => void)[] = []
  let inside = 0
  const passes = Array.from({ length: 5 }, () =>
    gate.pass(never, 0, () => {
      inside += 1
      return new Promise((resolve) => ends.push(resolve))
    }),
  )
  await vi.waitFor(() => expect(inside).toBe(3))
  await quietTime(20)
  expect(inside).toBe(3)
  ends[0]?.()
  await vi.waitFor(() => expect(inside).toBe(4))
  await vi.waitFor(() => {
    for (const end of ends) end()
    expect(inside).toBe(5)
  })
  for (const end of ends) end()
  await Promise.all(passes)
})
