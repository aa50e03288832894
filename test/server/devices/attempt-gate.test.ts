import { expect, test } from 'vitest'
import { AttemptGate } from '../../../server/devices/attempt-gate.ts'

const never = new AbortController().signal

test('so many go at once, the others in the order they came', async () => {
  const gate = new AttemptGate(2)
  const order: number[] = []
  let inside = 0
  let most = 0
  await Promise.all(
    Array.from({ length: 7 }, (_, number) =>
      gate.pass(never, async () => {
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

test('who gives up while waiting never goes, and takes nobody’s place', async () => {
  const gate = new AttemptGate(1)
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const first = gate.pass(never, () => held)
  const impatient = new AbortController()
  const gone = gate.pass(impatient.signal, () => expect.unreachable())
  const third = gate.pass(never, async () => undefined)
  impatient.abort(new Error('given up'))
  await expect(gone).rejects.toThrow('given up')
  release()
  await Promise.all([first, third])
  await gate.pass(never, async () => undefined)
})

test('one that fails leaves its place', async () => {
  const gate = new AttemptGate(1)
  await expect(gate.pass(never, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  await gate.pass(never, async () => undefined)
})
