import { expect, test } from 'vitest'
import { Retransmission } from '../../../../server/media/webrtc/retransmission.ts'

const packet = 1_000

/** Of so many packets that are missed at once, how many are sent again. */
function sentAgain(retransmission: Retransmission, from: number, packets: number): number {
  let allowed = 0
  for (let number = from; number < from + packets; number++) if (retransmission.allows(number, packet, 1_000)) allowed++
  return allowed
}

test('a viewer that has just begun is sent a quarter of its stream again, and no more', () => {
  const retransmission = new Retransmission()
  for (let i = 0; i < 40; i++) retransmission.sent(packet)
  expect(sentAgain(retransmission, 0, 30)).toBe(10)
})

test('one that has moved to another network is sent at once what was under way to the old one', () => {
  const retransmission = new Retransmission()
  for (let i = 0; i < 40; i++) retransmission.sent(packet)
  retransmission.moved()
  expect(sentAgain(retransmission, 0, 30)).toBe(30)
  // Moving is no way to have everything again and again: what may be sent at once has its bound.
  retransmission.moved()
  expect(sentAgain(retransmission, 100, 1_000)).toBe(32)
})
