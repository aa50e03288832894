import { expect, test } from 'vitest'
import { QueueDelay } from '../../../../server/media/webrtc/link-estimate.ts'
/** Takes round trips, one every 200 ms. */
function heard(...roundTrips: number[]): QueueDelay {
  const queue = new QueueDelay()
  for (const [index, roundTrip] of roundTrips.entries()) queue.onRoundTrip(roundTrip, index * 200)
  return queue
}

test('a queue is as long as round trips exceed the minimum', () => {
  expect(heard(40, 45, 340, 320).latest).toBe(280)
  expect(heard(40, 45, 340, 320).ms).toBe(280)
  expect(heard().ms).toBe(0)
  expect(heard(200).ms).toBe(0)
})

test('a single late round trip is not a queue', () => {
  expect(heard(40, 42, 300).ms).toBe(2)
  expect(heard(40, 300, 42).ms).toBe(2)
})

test('a late measurement still gives a lower bound of the round trip', () => {
  const queue = new QueueDelay()
  queue.onRoundTrip(30, 0, true)
  expect(queue.readings).toBe(0)
  queue.onRoundTrip(280, 200)
  queue.onRoundTrip(900, 400, true)
  expect(queue.latest).toBe(250)
})

test('a longer path does not count as a queue for ever, nor does another network', () => {
  const queue = heard(20, 20)
  for (let now = 1_000; now < 35_000; now += 1_000) queue.onRoundTrip(180, now)
  expect(queue.ms).toBe(0)
  queue.onRoundTrip(20, 36_000)
  queue.forget()
  queue.onRoundTrip(180, 37_000)
  expect(queue.latest).toBe(0)
})
