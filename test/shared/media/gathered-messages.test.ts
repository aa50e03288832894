import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { GatheredMessages, messagesOf } from '../../../shared/media/control-link.ts'

function wire() {
  const sent: (number | number[])[] = []
  const gathered = new GatheredMessages<number>((message) => sent.push(message))
  return { sent, gathered, read: () => sent.flatMap((message) => messagesOf(message)) }
}

test('the messages of one turn are sent together, in order; a single one is sent as it is', async () => {
  const { sent, gathered, read } = wire()
  gathered.send(1)
  expect(sent).toEqual([])
  await turn()
  for (const number of [2, 3, 4]) gathered.send(number)
  await turn()
  expect(sent).toEqual([1, [2, 3, 4]])
  expect(read()).toEqual([1, 2, 3, 4])
  await turn()
  expect(sent).toHaveLength(2)
})

test('a flood is sent before the end of its turn, and pending messages can be sent before a connection ends', async () => {
  const { sent, gathered, read } = wire()
  const numbers = Array.from({ length: 1_000 }, (_, number) => number)
  for (const number of numbers) gathered.send(number)
  expect(sent).toHaveLength(3)
  gathered.flush()
  gathered.flush()
  expect(sent).toHaveLength(4)
  expect(read()).toEqual(numbers)
  await turn()
  expect(sent).toHaveLength(4)
})
