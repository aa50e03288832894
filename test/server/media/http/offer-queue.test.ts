import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { OfferQueue } from '../../../../server/media/base/event-loop.ts'

test('each offer of a crowd gets its own turn of the event loop, in order; other work is not delayed', async () => {
  const offers = new OfferQueue()
  const done: string[] = []
  const work = async (name: string): Promise<void> => {
    await offers.next()
    done.push(name)
    // Synchronous continuations belong to the turn.
    await Promise.resolve()
    done.push(`${name} still`)
  }
  const crowd = Promise.all(['one', 'two', 'three'].map(work))
  for (let i = 1; i <= 2; i++) {
    await turn()
    done.push(`request ${i}`)
  }
  await crowd
  expect(done).toEqual(['one', 'one still', 'request 1', 'two', 'two still', 'request 2', 'three', 'three still'])
  await work('later')
  expect(done.slice(-2)).toEqual(['later', 'later still'])
})
